"""Signing in, signing out, and one's own password."""

from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser
from groundtransport.resources import Admin, Profile, Root
from groundtransport.security import Permission
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.fields import submitted
from groundtransport.web.links import is_ours

REFUSED = "The user name or the password is wrong."


@view_defaults(context=Root, name="login", permission=NO_PERMISSION_REQUIRED, renderer="login.jinja2")
class Login:
    def __init__(self, context: Root, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET")
    def show(self) -> dict[str, Any]:
        """The form; for a signed-in person it says what their role lacks, and sends nobody on."""
        return self._page(self.request.GET.get("next", ""), missing=self.request.GET.get("missing", ""))

    @view_config(request_method="POST")
    def sign_in(self) -> Any:
        form = submitted(self.request, ("username", "password", "next"))
        user = self._known(form.get("username", ""), form.get("password", ""))
        if user is None:
            return self._refuse(form)
        if passwords.is_outdated(user.password_hash):
            user.password_hash = passwords.rehash(form.get("password", ""))
        self.request.session.sign_in(user)
        target = form.get("next", "")
        return HTTPSeeOther(self.request.application_url + (target if is_ours(target) else "/admin"))

    def _known(self, name: str, password: str) -> AdminUser | None:
        user = users.find(self.request.dbsession, name.replace("\0", ""))
        is_right = passwords.is_right(password, user.password_hash if user else None)
        return user if user and is_right and user.disabled_at is None else None

    def _refuse(self, form: dict[str, str]) -> Any:
        if prefers_json(self.request):
            return problem(self.request, 422, REFUSED, errors={"username": [REFUSED]})
        self.request.response.status_int = 422
        return self._page(form.get("next", ""), username=form.get("username", ""), error=REFUSED)

    def _page(self, target: str, **values: str) -> dict[str, Any]:
        identity = self.request.session.identity
        page = {"username": "", "error": "", "missing": "", "next": target if is_ours(target) else ""}
        return {**page, **values, "signed_in": identity}


@view_config(context=Root, name="logout", request_method="POST", permission=NO_PERMISSION_REQUIRED)
def sign_out(context: Root, request: Request) -> Response:
    request.session.sign_out()
    return HTTPSeeOther(request.application_url + "/login")


@view_defaults(context=Profile, renderer="profile.jinja2")
class OwnPassword:
    def __init__(self, context: Profile, request: Request) -> None:
        self.context, self.request = context, request

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> dict[str, Any]:
        return {"errors": {}, "identity": self.request.identity}

    @view_config(request_method="POST", permission=Permission.OWN)
    def change(self) -> Any:
        form = submitted(self.request, ("current", "password", "repeated"))
        user = self.request.dbsession.get(AdminUser, self.request.identity.user_id)
        errors = self._change(user, form)
        if errors:
            self.request.response.status_int = 422
            return {"errors": errors, "identity": self.request.identity}
        self.request.session.sign_in(user)
        self.request.session.flash({"text": "Your password was changed. Your other sessions were ended."})
        return HTTPSeeOther(self.request.application_url + self.request.address(_home(self.context)))

    def _change(self, user: AdminUser, form: dict[str, str]) -> dict[str, str]:
        if not passwords.is_right(form.get("current", ""), user.password_hash):
            return {"current": "This is not your current password."}
        if form.get("password", "") != form.get("repeated", ""):
            return {"repeated": "The two new passwords differ."}
        if form.get("password") == form.get("current"):
            return {"password": "Choose a password other than the current one."}
        try:
            users.set_password(user, form.get("password", ""), one_time=False)
        except passwords.PasswordRefused as refused:
            return {"password": str(refused)}
        return {}


def _home(context: Profile) -> Admin:
    admin = context.__parent__
    assert isinstance(admin, Admin)
    return admin
