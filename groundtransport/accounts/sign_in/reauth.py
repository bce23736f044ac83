"""Re-authentication: a change of credentials requires the current password and code, not only a session.

A failure counts as a sign-in attempt, so that this form allows no more guesses than the sign-in.
"""

from typing import Any

from pyramid.httpexceptions import HTTPTooManyRequests
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import exception_view_config

from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.sign_in import throttle
from groundtransport.accounts.sign_in.throttle import Throttled
from groundtransport.i18n import _
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import error

NOT_CURRENT = _("This is not your current password.")
WRONG_CODE = _("This code is wrong, or it was used already. Wait for the next one.")


def check(request: Request, form: dict[str, str]) -> dict[str, Any]:
    """Verify the fields ``current`` (password) and ``code`` (if the second factor is on); return the errors by field.

    Raise Throttled after too many attempts. Must be called before the request's own transaction begins.
    """
    attempt = throttle.admit(request, request.identity.name)
    errors = _errors(request, form)
    if errors:
        attempt.failed()
        record(request, Event.SIGN_IN_FAILED, because="asked again on the profile")
    else:
        attempt.succeeded()
    return errors


def _errors(request: Request, form: dict[str, str]) -> dict[str, Any]:
    user = users.load_detached(request.registry["engine"], request.identity.name)
    if not passwords.verify(form.get("current", ""), user.password_hash if user else None):
        return {"current": NOT_CURRENT}
    factor = secondfactor.find(request.dbsession, request.identity.user_id)
    secrets = request.registry["settings"].secrets
    if factor and not secondfactor.verify_code(request.dbsession, secrets, factor, form.get("code", "")):
        secondfactor.count_failure(request.session, factor)
        return {"code": WRONG_CODE}
    return {}


@exception_view_config(Throttled)
def too_many(exception: Throttled, request: Request) -> Response:
    record(request, Event.THROTTLED)
    response = error(request, HTTPTooManyRequests.code, throttle.message(request, exception))
    response.headers["Retry-After"] = str(exception.seconds)
    return response
