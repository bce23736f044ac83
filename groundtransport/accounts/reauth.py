"""Who changes how they sign in proves first, in the same request, that it is they: a stolen session is not enough.

A wrong password or code counts as a try to sign in, so that nobody guesses here what they may not guess there.
"""

from typing import Any

from pyramid.httpexceptions import HTTPTooManyRequests
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import exception_view_config

from groundtransport.accounts import passwords, secondfactor, throttle, users
from groundtransport.accounts.security_log import Event, record
from groundtransport.accounts.throttle import Throttled
from groundtransport.i18n import _
from groundtransport.web.errors import error

NOT_CURRENT = _("This is not your current password.")
WRONG_CODE = _("This code is wrong, or it was used already. Wait for the next one.")


def doubts(request: Request, form: dict[str, str], *, with_code: bool) -> dict[str, Any]:
    """Return what is wrong with ``current``, the password, and ``code``, by field; {}: it is the person.

    A code is owed where ``with_code`` says so and a second factor is on. It raises Throttled, and must come before the
    request's own transaction has begun.
    """
    attempt = throttle.admit(request, request.identity.name)
    wrong = _wrong(request, form, with_code=with_code)
    if wrong:
        record(request, Event.SIGN_IN_FAILED, because="asked again on the profile")
    else:
        attempt.succeeded()
    return wrong


def _wrong(request: Request, form: dict[str, str], *, with_code: bool) -> dict[str, Any]:
    user = users.look_up(request.registry["engine"], request.identity.name)
    if not passwords.is_right(form.get("current", ""), user.password_hash if user else None):
        return {"current": NOT_CURRENT}
    factor = secondfactor.of(request.dbsession, request.identity.user_id) if with_code else None
    secrets = request.registry["settings"].secrets
    if factor and not secondfactor.prove(request.dbsession, secrets, factor, form.get("code", "")):
        secondfactor.count_failure(request.session, factor)
        return {"code": WRONG_CODE}
    return {}


@exception_view_config(Throttled)
def too_many(exception: Throttled, request: Request) -> Response:
    record(request, Event.THROTTLED)
    response = error(request, HTTPTooManyRequests.code, throttle.in_words(request, exception))
    response.headers["Retry-After"] = str(exception.seconds)
    return response
