"""``/admin/users``: the users' accounts, for administrators.

A generated password is shown in the response to the POST that generated it: a redirect would have to store it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from translationstring import TranslationString

from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.sessions import views
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import User, Users
from groundtransport.security import NAME_MAX, Permission, Role
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.client import browser_of
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import read_form, submitted

TEMPLATES = "groundtransport:accounts/templates"
ROLES = {
    Role.VIEWER: _("Viewer: sees records and the activity log"),
    Role.EDITOR: _("Editor: also creates, changes, deletes and restores records"),
    Role.ADMINISTRATOR: _("Administrator: also manages users and security"),
}


def refused(
    request: Request, template: str, page: dict[str, object], name: str, text: str, status: int = 422
) -> Response:
    """Return the page with the error ``text`` at the form ``name``; problem details (RFC 9457) for a JSON client."""
    message = request.translate(text)
    if prefers_json(request):
        return problem(request, status, message, errors={name: [message]})
    response = render_to_response(f"{TEMPLATES}/{template}", {**page, "errors": {name: message}}, request=request)
    response.status_int = status
    return response


def show_password(request: Request, context: User, password: str, text: TranslationString) -> Response:
    """Return the page that shows a one-time password, with ``text`` as heading."""
    values = {
        "text": request.translate(text),
        "name": context.user.name,
        "password": password,
        "back": request.context_path(context),
    }
    return render_to_response(f"{TEMPLATES}/one_time_password.jinja2", values, request=request)


@dataclass(frozen=True)
class NewUserForm:
    """The submitted form of a new user; ``service`` is "1" for a service account."""

    name: str = ""
    role: str = ""
    service: str = ""


@view_defaults(context=Users)
class UsersViews:
    """The list of users, and the form of a new one."""

    def __init__(self, context: Users, request: Request) -> None:
        self.context, self.request = context, request

    @view_config(request_method="GET", permission=Permission.USERS_READ, renderer=f"{TEMPLATES}/users.jinja2")
    def show(self) -> dict[str, object]:
        """Render all users."""
        return self._page(NewUserForm())

    @view_config(request_method="POST", permission=Permission.USERS)
    def add(self) -> Response:
        """Create a user with a one-time password, or a service account, which has none."""
        form = read_form(self.request, NewUserForm)
        if form.role not in set(Role):
            return self._refuse(form, "role", _("Choose a role."))
        if form.service == "1":
            return self._add_service(form)
        password = passwords.generate()
        try:
            user = users.add(self.request.dbsession, form.name, Role(form.role), password, one_time=True)
        except users.UserRefused as refusal:
            return self._refuse(form, "name", refusal.text)
        record(self.request, Event.USER_ADDED, about=user.name, role=user.role)
        text = _("${name} was added.", mapping={"name": user.name})
        return show_password(self.request, User(self.request, user.name, user, self.context), password, text)

    def _add_service(self, form: NewUserForm) -> Response:
        try:
            user = users.add_service(self.request.dbsession, form.name, Role(form.role))
        except users.UserRefused as refusal:
            return self._refuse(form, "name", refusal.text)
        record(self.request, Event.USER_ADDED, about=user.name, role=user.role, what="service account")
        text = _("${name} was added. Create its first token now.", mapping={"name": user.name})
        self.request.session.flash({"text": self.request.translate(text)})
        path = self.request.context_path(self.context, user.name, "tokens")
        return HTTPSeeOther(self.request.application_url + path)

    def _refuse(self, form: NewUserForm, name: str, text: str) -> Response:
        return refused(self.request, "users.jinja2", self._page(form), name, text)

    def _page(self, typed: NewUserForm) -> dict[str, object]:
        return {
            "users": [
                (user, self.request.context_path(self.context, user.name))
                for user in users.all_users(self.request.dbsession)
            ],
            "with_factor": secondfactor.user_ids_with_factor(self.request.dbsession),
            "roles": ROLES,
            "name_max": NAME_MAX,
            "typed": typed,
            "errors": {},
        }


@view_defaults(context=User)
class UserViews:
    """One user. Each change is a form of its own; its field ``version`` is the session epoch that the page showed."""

    def __init__(self, context: User, request: Request) -> None:
        self.context, self.request, self.user = context, request, context.user

    @view_config(request_method="GET", permission=Permission.USERS_READ, renderer=f"{TEMPLATES}/user.jinja2")
    def show(self) -> dict[str, object]:
        """Render the user's account."""
        return self._page(role="")

    @view_config(name="role", request_method="POST", permission=Permission.USERS)
    def role(self) -> Response:
        """Change the role and end all sessions; 422 if no administrator would remain."""
        role = submitted(self.request, ("role",)).get("role", "")
        if role not in set(Role):
            return self._refuse("role", _("Choose a role."))
        before = self.user.role

        def change() -> None:
            users.set_role(self.request.dbsession, self.user, Role(role))
            record(self.request, Event.ROLE_CHANGED, about=self.user.name, before=before, after=role)

        return self._apply(
            "role", change, _("${name} has the role ${role} now.", mapping={**self._named, "role": role})
        )

    @view_config(name="disable", request_method="POST", permission=Permission.USERS)
    def disable(self) -> Response:
        """Disable the account and end all sessions; 422 if no administrator would remain."""

        def change() -> None:
            users.disable(self.request.dbsession, self.user)
            record(self.request, Event.USER_DISABLED, about=self.user.name)

        return self._apply("status", change, _("${name} cannot sign in any more.", mapping=self._named))

    @view_config(name="enable", request_method="POST", permission=Permission.USERS)
    def enable(self) -> Response:
        """Enable the account."""

        def change() -> None:
            users.enable(self.user)
            record(self.request, Event.USER_ENABLED, about=self.user.name)

        return self._apply("status", change, _("${name} can sign in again.", mapping=self._named))

    @view_config(name="password", request_method="POST", permission=Permission.USERS)
    def password(self) -> Response:
        """Set a one-time password, which is shown once."""
        password = passwords.generate()

        def change() -> Response:
            users.set_password(self.user, password, one_time=True)
            record(self.request, Event.PASSWORD_RESET, about=self.user.name)
            text = _("${name} has a new password.", mapping=self._named)
            return show_password(self.request, self.context, password, text)

        return self._apply("password", change)

    @view_config(name="second-factor", request_method="POST", permission=Permission.USERS)
    def second_factor(self) -> Response:
        """Remove the second factor of a user who lost it."""

        def change() -> None:
            secondfactor.reset(self.request.dbsession, self.user)
            record(self.request, Event.SECOND_FACTOR, about=self.user.name, what="reset")

        return self._apply("factor", change, _("${name} has no second factor now.", mapping=self._named))

    @view_config(name="sessions", request_method="POST", permission=Permission.USERS)
    def sessions(self) -> Response:
        """End the session whose public id is the field ``session``; all sessions if it is empty."""
        public_id = submitted(self.request, ("session",)).get("session", "")
        if not public_id:
            users.end_sessions(self.user)
            record(self.request, Event.SESSION_ENDED, about=self.user.name, session="all")
            return self._redirect(_("All sessions of ${name} were ended.", mapping=self._named))
        if views.end_session(self.request.dbsession, self.user.id, public_id):
            record(self.request, Event.SESSION_ENDED, about=self.user.name, session=public_id)
        return self._redirect(_("That session was ended."))

    @property
    def _named(self) -> dict[str, str]:
        return {"name": self.user.name}

    def _apply(self, form: str, change: Callable[[], Response | None], text: str = "") -> Response:
        """Call ``change`` unless the account is one's own or was changed in the meantime.

        Return its response, or redirect to the user's page with the flash message ``text``.
        """
        if self.user.id == self.request.user.user_id:
            return self._refuse(form, _("This is your own account: only another administrator can do that."))
        version = submitted(self.request, ("version",)).get("version", "")
        if version not in ("", str(self.user.session_epoch)):
            return self._refuse(form, _("The account was changed in the meantime. This is how it is now."), 409)
        try:
            return change() or self._redirect(text)
        except users.UserRefused as refusal:
            return self._refuse(form, refusal.text)

    def _redirect(self, text: str) -> Response:
        self.request.session.flash({"text": self.request.translate(text)})
        return HTTPSeeOther(self.request.application_url + self.request.context_path(self.context))

    def _refuse(self, form: str, text: str, status: int = 422) -> Response:
        typed = submitted(self.request, ("role",))
        page = self._page(role=typed["role"] if typed.get("role") in set(Role) else "")
        return refused(self.request, "user.jinja2", page, form, text, status)

    def _page(self, **typed: str) -> dict[str, object]:
        return {
            "user": self.user,
            "here": self.request.context_path(self.context),
            "is_own": self.user.id == self.request.user.user_id,
            "roles": ROLES,
            "typed": typed,
            "factor": secondfactor.find(self.request.dbsession, self.user.id),
            "browser_of": browser_of,
            "page": views.page_of(self.request, self.user.id),
            "errors": {},
        }
