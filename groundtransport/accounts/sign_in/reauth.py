"""Re-authentication: a change of credentials requires the current password and code, not only a session.

A failure counts as a sign-in attempt, so that this form allows no more guesses than the sign-in.
"""

from dataclasses import dataclass

from pyramid.httpexceptions import HTTPTooManyRequests
from pyramid.response import Response
from pyramid.view import exception_view_config

from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.sign_in import throttle
from groundtransport.accounts.sign_in.throttle import Throttled
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import error
from groundtransport.web.form_data import read_form

NOT_CURRENT = _("This is not your current password.")
WRONG_CODE = _("This code is wrong, or it was used already. Wait for the next one.")


@dataclass(frozen=True)
class Proof:
    """The submitted current password, and the code of the second factor, "" without one."""

    current: str = ""
    code: str = ""


def check(request: Request) -> dict[str, str]:
    """Verify the submitted ``Proof``, its code if the second factor is on; return the errors by field.

    Raise Throttled after too many attempts. Must be called before the request's own transaction begins.
    """
    proof = read_form(request, Proof)
    attempt = throttle.admit(request, request.user.name)
    errors = _errors(request, proof)
    if errors:
        attempt.failed()
        record(request, Event.SIGN_IN_FAILED, because="asked again on the profile")
    else:
        attempt.succeeded()
    return errors


def _errors(request: Request, proof: Proof) -> dict[str, str]:
    user = users.load_detached(request.registry["engine"], request.user.name)
    if not passwords.verify(proof.current, user.password_hash if user else None):
        return {"current": NOT_CURRENT}
    factor = secondfactor.find(request.dbsession, request.user.user_id)
    secrets = request.registry["settings"].secrets
    if factor and not secondfactor.verify_code(request.dbsession, secrets, factor, proof.code):
        secondfactor.count_failure(request, factor)
        return {"code": WRONG_CODE}
    return {}


@exception_view_config(Throttled)
def too_many(exception: Throttled, request: Request) -> Response:
    """Return a 429 with the time of the next attempt."""
    record(request, Event.THROTTLED)
    response = error(request, HTTPTooManyRequests.code, throttle.message(request, exception))
    response.headers["Retry-After"] = str(exception.seconds)
    return response
