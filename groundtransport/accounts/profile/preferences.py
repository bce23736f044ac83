"""A user's preferences: language, theme, rows and columns of a list, keyboard shortcuts."""

from pyramid.httpexceptions import HTTPNoContent, HTTPSeeOther
from pyramid.view import view_config

from groundtransport.accounts.models import AdminUser
from groundtransport.i18n import LANGUAGES, _
from groundtransport.request import Request
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


NONE = "-"  # no column, which is refused


def names(request: Request) -> tuple[str, ...]:
    """Return the names of all preferences; ``columns.<kind>`` holds the columns of a list in order, with commas."""
    return (*CHOICES, *(f"columns.{kind}" for kind in request.registry["kinds"]))


def is_valid(request: Request, name: str, value: str) -> bool:
    """Return True if a preference may have the value. Empty removes it; the browser or the ini file then decides."""
    if not value:
        return True
    if name in CHOICES:
        return value in CHOICES[name]
    kind = request.registry["kinds"][name.removeprefix("columns.")]
    shown = value.split(",")
    return len(set(shown)) == len(shown) and set(shown) <= {*kind.columns, *kind.optional_columns}


def _columns(request: Request) -> dict[str, str]:
    """Return the preference set by the form of a list's columns, in its order.

    ``columns`` is the kind, ``shown`` its visible columns; ``earlier`` names one that moves up by one place.
    """
    kind = request.registry["kinds"].get(request.POST.get("columns", ""))
    if kind is None:
        return {}
    shown = list(request.POST.getall("shown"))
    moved = request.POST.get("earlier", "")
    if moved in shown:
        place = shown.index(moved)
        shown.insert(max(0, place - 1), shown.pop(place))
    return {f"columns.{kind.name}": ",".join(shown) or NONE}


@view_config(context=Profile, name="preferences", request_method="POST", permission=Permission.OWN)
def save(context: Profile, request: Request) -> object:
    """Store the submitted preferences; redirect to ``next``, or answer 204 to a script."""
    submitted_values = submitted(request, names(request)) | _columns(request)
    if not all(is_valid(request, name, value) for name, value in submitted_values.items()):
        return error(request, 422, _("This is not one of the choices."))
    user = request.dbsession.get_one(AdminUser, request.user.user_id)
    preferences = {**user.preferences, **submitted_values}
    # The choice of columns of a release before, which had no order, ends with a new one.
    gone = {name.replace("columns.", "hidden.") for name in submitted_values if name.startswith("columns.")}
    user.preferences = {name: value for name, value in preferences.items() if value and name not in gone}
    if request.is_xhr:
        return HTTPNoContent()
    request.session.flash({"text": request.translate(_("Your preferences were saved."))})
    target = submitted(request, ("next",)).get("next", "")
    return HTTPSeeOther(request.application_url + (target if is_ours(target) else request.context_path(context)))
