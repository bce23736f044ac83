"""``/admin/profile``: the signed-in user's name, password and preferences."""

from dataclasses import dataclass

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.models import FULL_NAME_MAX, AdminUser
from groundtransport.accounts.secondfactor import recovery
from groundtransport.accounts.sign_in import reauth
from groundtransport.i18n import LANGUAGES, _
from groundtransport.request import Request
from groundtransport.resources import Node, Profile
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.settings import PAGE_SIZES
from groundtransport.web.form_data import read_form, submitted

DIFFER = _("The two new passwords differ.")
SAME = _("Choose a password other than the current one.")


@view_config(context=Profile, request_method="GET", permission=Permission.OWN_READ, renderer="profile.jinja2")
def show(context: Profile, request: Request) -> dict[str, object]:
    """Render the profile of the signed-in user."""
    return page(request)


@view_config(context=Profile, name="name", request_method="POST", permission=Permission.OWN)
def rename(context: Profile, request: Request) -> Response:
    """Save the name that pages show for the signed-in user; 422 if it is invalid."""
    full_name = submitted(request, ("full_name",)).get("full_name", "")
    try:
        users.set_full_name(own_account(request), full_name)
    except users.UserRefused as refused:
        return refuse(request, {"full_name": refused.text}, full_name=full_name)
    return redirect(request, _("Your name was saved."), context)


@dataclass(frozen=True)
class PasswordForm:
    """The submitted form of a new password."""

    current: str = ""
    password: str = ""
    repeated: str = ""


@view_defaults(context=Profile)
class OwnPassword:
    """The change of one's own password."""

    def __init__(self, context: Profile, request: Request) -> None:
        self.context, self.request = context, request

    @view_config(request_method="POST", permission=Permission.OWN)
    def change(self) -> object:
        """Set a new password and end all other sessions; 422 if the current or the new password is refused."""
        form = read_form(self.request, PasswordForm)
        was_one_time = self.request.user.must_change_password
        errors = reauth.check(self.request)
        user = own_account(self.request)
        errors = errors or self._change(user, form)
        if errors:
            return refuse(self.request, errors)
        self.request.session.sign_in(user)
        record(self.request, Event.PASSWORD_CHANGED)
        text = _("Your password was changed. Your other sessions were ended.")
        return redirect(self.request, text, self.context.__parent__ if was_one_time else self.context)

    def _change(self, user: AdminUser, form: PasswordForm) -> dict[str, str]:
        if form.password != form.repeated:
            return {"repeated": DIFFER}
        if form.password == form.current:
            return {"password": SAME}
        try:
            users.set_password(user, form.password, one_time=False)
        except passwords.PasswordRefused as refused:
            return {"password": refused.text}
        return {}


def own_account(request: Request) -> AdminUser:
    """Return the signed-in user, with the row locked until the commit."""
    user = users.find_locked(request.dbsession, request.user.name)
    assert user is not None  # rows of users are never deleted
    return user


def page(request: Request, errors: dict[str, str] | None = None, **typed: str) -> dict[str, object]:
    """Return the variables of the profile's template; ``typed`` values replace stored ones."""
    identity = request.user
    factor = secondfactor.find(request.dbsession, identity.user_id)
    return {
        "errors": {name: request.translate(text) for name, text in (errors or {}).items()},
        "full_name": typed.get("full_name", identity.full_name),
        "full_name_max": FULL_NAME_MAX,
        "factor": factor,
        "codes_left": recovery.count_left(request.dbsession, identity.user_id) if factor else 0,
        "languages": LANGUAGES,
        "page_sizes": PAGE_SIZES,
        "page_size": request.registry["settings"].page_size,
        "password_min": passwords.MIN_LENGTH,
    }


def refuse(request: Request, errors: dict[str, str], **typed: str) -> Response:
    """Return the page with the errors by field, and status 422."""
    response = render_to_response("profile.jinja2", page(request, errors, **typed), request=request)
    response.status_int = 422
    return response


def redirect(request: Request, text: str, context: Node | None) -> Response:
    """Redirect to the page of a context, with the flash message ``text``."""
    request.session.flash({"text": request.translate(text)})
    return HTTPSeeOther(request.application_url + request.context_path(context))
