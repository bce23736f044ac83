"""The second step of the sign-in: a code of the app, or a recovery code."""

from urllib.parse import quote

from pyramid.httpexceptions import HTTPSeeOther, HTTPTooManyRequests, HTTPUnprocessableEntity
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import secondfactor
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor import Proof, pending, recovery
from groundtransport.accounts.secondfactor.models import PendingSignIn, SecondFactor
from groundtransport.accounts.sign_in import throttle
from groundtransport.accounts.sign_in.throttle import Attempt, Throttled
from groundtransport.i18n import DOMAIN, _
from groundtransport.request import Request
from groundtransport.resources import Root
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import submitted
from groundtransport.web.urls import is_ours, next_url

WRONG = _("The code is wrong, or it was used already. Wait for the next one and try again.")
LOCKED = _(
    "Too many wrong codes were typed for this account. Use a recovery code, or ask an administrator to reset your "
    "second factor."
)


def ask(request: Request, user: AdminUser, attempt: Attempt, target: str) -> Response:
    """Redirect a user whose password was verified to the second step. The attempt counts until that succeeds."""
    attempt.failed()
    pending.begin(request, user, attempt.number)
    return HTTPSeeOther(request.application_url + _login_path("step=code", target))


@view_defaults(
    context=Root, name="login", request_param="step", permission=NO_PERMISSION_REQUIRED, renderer="second_step.jinja2"
)
class SecondStep:
    """The form of the code, for a browser whose password was verified."""

    def __init__(self, context: Root, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET")
    def show(self) -> object:
        """Render the form; redirect to the first step if there is no pending sign-in."""
        target = self.request.GET.get("next", "")
        sign_in = pending.find(self.request)
        return page(sign_in[1], target) if sign_in else begin_again(self.request, target)

    @view_config(request_method="POST")
    def take(self) -> object:
        """Check the submitted code and sign in; redirect to the first step if there is no pending sign-in."""
        form = submitted(self.request, ("code", "next"))
        sign_in = pending.find(self.request)
        if sign_in is None:
            return begin_again(self.request, form.get("next", ""))
        return PendingSecondStep(self.request, *sign_in, form.get("next", "")).take(form.get("code", ""))


class PendingSecondStep:
    """Checks a code that was submitted for a pending sign-in, and signs in."""

    def __init__(self, request: Request, sign_in: PendingSignIn, user: AdminUser, target: str) -> None:
        self.request, self.pending_sign_in, self.user, self.target = request, sign_in, user, target

    def take(self, code: str) -> Response:
        """Return the redirect after the sign-in; 422 for a wrong code, 429 after too many attempts."""
        try:
            attempt = throttle.admit(self.request, self.user.name)
        except Throttled as throttled:
            return self._hold(throttled)
        factor = secondfactor.find(self.request.dbsession, self.user.id)
        proof = self._proof(factor, code) if factor else None
        if factor is None or proof is None:
            attempt.failed()
            return self._refuse(factor)
        attempt.succeeded()
        pending.forget_attempt(self.request, self.pending_sign_in)
        return self._let_in(proof)

    def _proof(self, factor: SecondFactor, code: str) -> Proof | None:
        dbsession, secrets = self.request.dbsession, self.request.registry["settings"].secrets
        is_pending = pending.consume(dbsession, self.pending_sign_in)
        return secondfactor.verify_code(dbsession, secrets, factor, code) if is_pending else None

    def _let_in(self, proof: Proof) -> Response:
        if proof == Proof.RECOVERY_CODE:
            self._flash_codes_left()
        self.request.session.sign_in(self.user)
        record(self.request, Event.SIGN_IN, user=self.user, second_factor=proof)
        return HTTPSeeOther(self.request.application_url + next_url(self.request, self.target))

    def _flash_codes_left(self) -> None:
        codes_left = recovery.count_left(self.request.dbsession, self.user.id)
        text = self.request.localizer.pluralize(
            "You signed in with a recovery code; ${n} is left. You can make new ones on your profile.",
            "You signed in with a recovery code; ${n} are left. You can make new ones on your profile.",
            codes_left,
            domain=DOMAIN,
            mapping={"n": codes_left},
        )
        self.request.session.flash({"text": text, "level": "warning" if codes_left <= recovery.FEW else "success"})

    def _refuse(self, factor: SecondFactor | None) -> Response:
        if factor:
            secondfactor.count_failure(self.request, factor)
        record(self.request, Event.SIGN_IN_FAILED, user=self.user, because="second factor")
        return self._answer(HTTPUnprocessableEntity.code, LOCKED if factor and factor.is_locked else WRONG)

    def _hold(self, throttled: Throttled) -> Response:
        record(self.request, Event.THROTTLED, user=self.user)
        response = self._answer(HTTPTooManyRequests.code, throttle.message(self.request, throttled))
        response.headers["Retry-After"] = str(throttled.seconds)
        return response

    def _answer(self, status: int, text: str) -> Response:
        text = self.request.translate(text)
        if prefers_json(self.request):
            return problem(self.request, status, text)
        response = render_to_response("second_step.jinja2", page(self.user, self.target, text), request=self.request)
        response.status_int = status
        return response


def page(user: AdminUser, target: str, error: str = "") -> dict[str, object]:
    """Return the template values of the form; ``target`` is the URL to open after the sign-in."""
    return {"error": error, "next": target if is_ours(target) else "", "name": user.name}


def begin_again(request: Request, target: str) -> Response:
    """Redirect to the first step, which shows that the pending sign-in has expired."""
    return HTTPSeeOther(request.application_url + _login_path("late=1", target))


def _login_path(query: str, target: str) -> str:
    return f"/login?{query}" + (f"&next={quote(target, safe='/')}" if is_ours(target) else "")
