"""A user's preferences: language, theme, rows of a list, hidden columns, keyboard shortcuts."""

from typing import Any

from pyramid.httpexceptions import HTTPNoContent, HTTPSeeOther
from pyramid.request import Request
from pyramid.view import view_config

from groundtransport.accounts.models import AdminUser
from groundtransport.i18n import LANGUAGES, _
from groundtransport.resources import Profile
from groundtransport.security import Permission
from groundtransport.settings import PAGE_SIZES
from groundtransport.web.errors import error
from groundtransport.web.form_data import submitted
from groundtransport.web.urls import is_ours

CHOICES = {
    "language": tuple(LANGUAGES),
    "theme": ("light", "dark"),
    "page_size": tuple(map(str, PAGE_SIZES)),
    "shortcuts": ("off",),
}


def names(request: Request) -> tuple[str, ...]:
    """Return the names of all preferences; ``hidden.<kind>`` holds hidden columns, separated by commas."""
    return (*CHOICES, *(f"hidden.{kind}" for kind in request.registry["kinds"]))


def is_valid(request: Request, name: str, value: str) -> bool:
    """Return True if a preference may have the value. Empty removes it; the browser or the ini file then decides."""
    if not value:
        return True
    if name in CHOICES:
        return value in CHOICES[name]
    columns = request.registry["kinds"][name.removeprefix("hidden.")].columns
    return set(value.split(",")) < set(columns)  # at least one column stays visible


def _hidden_columns(request: Request) -> dict[str, str]:
    """Return the preference set by a form of checkboxes: ``columns`` is the kind, ``shown`` its visible columns."""
    kind = request.registry["kinds"].get(request.POST.get("columns", ""))
    shown = request.POST.getall("shown")
    return {f"hidden.{kind.name}": ",".join(name for name in kind.columns if name not in shown)} if kind else {}


@view_config(context=Profile, name="preferences", request_method="POST", permission=Permission.OWN)
def save(context: Profile, request: Request) -> Any:
    """Store the submitted preferences; redirect to ``next``, or answer 204 to a script."""
    submitted_values = submitted(request, names(request)) | _hidden_columns(request)
    if not all(is_valid(request, name, value) for name, value in submitted_values.items()):
        return error(request, 422, _("This is not one of the choices."))
    user = request.dbsession.get(AdminUser, request.identity.user_id)
    preferences = {**user.preferences, **submitted_values}
    user.preferences = {name: value for name, value in preferences.items() if value}
    if request.is_xhr:
        return HTTPNoContent()
    request.session.flash({"text": request.translate(_("Your preferences were saved."))})
    target = submitted(request, ("next",)).get("next", "")
    return HTTPSeeOther(request.application_url + (target if is_ours(target) else request.context_path(context)))
