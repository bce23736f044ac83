"""What a person chose for themselves: language, theme, rows of a list, hidden columns, single keys."""

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
    """Return the preferences there are; ``hidden.<kind>`` holds the names of its hidden columns, with commas."""
    return (*CHOICES, *(f"hidden.{kind}" for kind in request.registry["kinds"]))


def is_valid(request: Request, name: str, value: str) -> bool:
    """Whether a preference may have that value. Empty stands for none: the browser or the ini decides then."""
    if not value:
        return True
    if name in CHOICES:
        return value in CHOICES[name]
    columns = request.registry["kinds"][name.removeprefix("hidden.")].columns
    return set(value.split(",")) < set(columns)  # one column stays


def _hidden_columns(request: Request) -> dict[str, str]:
    """Return the columns that a form of checkboxes hides: ``columns`` names the kind, ``shown`` those that stay."""
    kind = request.registry["kinds"].get(request.POST.get("columns", ""))
    shown = request.POST.getall("shown")
    return {f"hidden.{kind.name}": ",".join(name for name in kind.columns if name not in shown)} if kind else {}


@view_config(context=Profile, name="preferences", request_method="POST", permission=Permission.OWN)
def choose(context: Profile, request: Request) -> Any:
    """Keep what was sent and leave the rest. To the page given by ``next``; a script gets 204."""
    sent = submitted(request, names(request)) | _hidden_columns(request)
    if not all(is_valid(request, name, value) for name, value in sent.items()):
        return error(request, 422, _("There is no such choice."))
    user = request.dbsession.get(AdminUser, request.identity.user_id)
    kept = {**user.preferences, **sent}
    user.preferences = {name: value for name, value in kept.items() if value}
    if request.is_xhr:
        return HTTPNoContent()
    request.session.flash({"text": request.translate(_("Your preferences were saved."))})
    target = submitted(request, ("next",)).get("next", "")
    return HTTPSeeOther(request.application_url + (target if is_ours(target) else request.context_path(context)))
