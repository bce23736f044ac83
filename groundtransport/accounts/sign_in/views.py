"""``/login`` and ``/logout``."""

from dataclasses import dataclass

from pyramid.httpexceptions import HTTPSeeOther, HTTPTooManyRequests
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor import sign_in_views
from groundtransport.accounts.sign_in import throttle
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Root
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import pseudonym, record
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import read_form
from groundtransport.web.layout import DENIAL, DENIALS
from groundtransport.web.urls import is_ours, next_url

REFUSED = _("The user name or the password is wrong.")
TOO_LATE = _("The sign-in took too long. Please begin again.")


def denial(permission: str) -> str:
    """Return the message for a missing permission; "" if ``permission`` is empty."""
    if not permission:
        return ""
    return DENIALS[Permission(permission)] if permission in set(Permission) else DENIAL


@dataclass(frozen=True)
class SignInForm:
    """The submitted form; ``next`` is the URL to open after the sign-in."""

    username: str = ""
    password: str = ""
    next: str = ""


@view_defaults(context=Root, name="login", permission=NO_PERMISSION_REQUIRED, renderer="login.jinja2")
class Login:
    """The sign-in by user name and password."""

    def __init__(self, context: Root, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET")
    def show(self) -> dict[str, object]:
        """Show the form; to a signed-in user, the permission that the role lacks."""
        query = self.request.GET
        late = self.request.translate(TOO_LATE) if "late" in query else ""
        return self._page(query.get("next", ""), missing=query.get("missing", ""), error=late)

    @view_config(request_method="POST")
    def sign_in(self) -> object:
        """Sign in, or redirect to the second step; 422 for a wrong name or password, 429 after too many attempts."""
        form = read_form(self.request, SignInForm)
        name = users.normal_name(form.username)
        user = users.load_detached(self.request.registry["engine"], name)
        known_as = user.name if user else pseudonym(self.request, name)
        try:
            attempt = throttle.admit(self.request, name)
        except throttle.Throttled as throttled:
            record(self.request, Event.THROTTLED, name=known_as)
            return self._hold(form, throttled)
        if not passwords.verify(form.password, user.password_hash if user else None):
            attempt.failed()
            record(self.request, Event.SIGN_IN_FAILED, name=known_as)
            return self._refuse(form)
        if user is None or user.disabled_at is not None:
            attempt.failed()
            record(self.request, Event.SIGN_IN_FAILED, name=known_as, because="disabled")
            return self._refuse(form)
        if passwords.is_outdated(user.password_hash):
            self.request.session.add_write(users.rehash_write(user, passwords.rehash(form.password)))
        if secondfactor.is_on(self.request.registry["engine"], user.id):
            return sign_in_views.ask(self.request, user, attempt, form.next)
        attempt.succeeded()
        return self._let_in(user, form)

    def _let_in(self, user: AdminUser, form: SignInForm) -> Response:
        self.request.session.sign_in(user)
        record(self.request, Event.SIGN_IN, user=user)
        return HTTPSeeOther(self.request.application_url + next_url(self.request, form.next))

    def _refuse(self, form: SignInForm) -> object:
        if prefers_json(self.request):
            return problem(self.request, 422, REFUSED, errors={"username": [REFUSED]})
        self.request.response.status_int = 422
        return self._page(form.next, username=form.username, error=REFUSED)

    def _hold(self, form: SignInForm, throttled: throttle.Throttled) -> object:
        """Answer 429 with the time of the next attempt, whether or not the password is right."""
        text = throttle.message(self.request, throttled)
        if prefers_json(self.request):
            response = problem(self.request, HTTPTooManyRequests.code, text)
        else:
            page = self._page(form.next, username=form.username, error=text)
            response = render_to_response("login.jinja2", page, request=self.request)
            response.status_int = HTTPTooManyRequests.code
        response.headers["Retry-After"] = str(throttled.seconds)
        return response

    def _page(self, target: str, **values: str) -> dict[str, object]:
        identity = self.request.session.identity
        page = {"username": "", "error": "", "missing": "", "next": target if is_ours(target) else ""}
        page |= values
        return {**page, "denial": denial(page["missing"]) if identity else "", "signed_in": identity}


@view_config(context=Root, name="logout", request_method="POST", permission=NO_PERMISSION_REQUIRED)
def sign_out(context: Root, request: Request) -> Response:
    """End the session, if there is one, and redirect to the sign-in page."""
    if request.session.identity:
        record(request, Event.SIGN_OUT)
    request.session.sign_out()
    return HTTPSeeOther(request.application_url + "/login")
