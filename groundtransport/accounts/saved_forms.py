"""Save a form that was submitted after its session had ended, so that its user can continue after the next sign-in.

Only a form that holds the signed stamp of its user is saved, so that nobody else can fill the table or put values into
a user's form. It is never submitted automatically: after the sign-in, the user sees it and decides.
"""

import hmac
import logging
import re
import secrets
from collections.abc import Callable
from datetime import timedelta

from pyramid.httpexceptions import HTTPException
from pyramid.response import Response
from sqlalchemy import ColumnElement, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.accounts.models import SavedForm
from groundtransport.accounts.sessions.rows import hash_of
from groundtransport.db import now
from groundtransport.request import Registry, Request
from groundtransport.security import derive, origin_is_ours
from groundtransport.settings import ANONYMOUS_BODY_LIMIT
from groundtransport.web.cookies import cookie_name, set_cookie
from groundtransport.web.form_data import submitted_all
from groundtransport.web.login_required import check_encoding, is_inside
from groundtransport.web.short_transaction import short_transaction

log = logging.getLogger(__name__)

COOKIE = "groundtransport-form"
OWNER = "form_owner"  # the name of the hidden field that holds the stamp
NOT_SAVED = ("csrf_token", OWNER, "_method")  # fields that each submission sends again
PATH_MAX = 200  # characters
FORMS_OF_USER = 20
FORMS_OF_BROWSER = 5
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_STAMP = re.compile(r"([0-9]{1,18})\.([0-9a-f]{64})", re.ASCII)


def stamp(secret: bytes, user_id: int) -> str:
    """Return the signed stamp of a user, for the hidden field OWNER of a form."""
    return f"{user_id}.{hmac.new(derive(secret, 'kept-form/v1'), str(user_id).encode(), 'sha256').hexdigest()}"


def owner_of(request: Request, text: str) -> int | None:
    """Return the user id of a stamp; None if the signature is wrong."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    user_id = int(match[1])
    valid = (stamp(secret, user_id) for secret in request.registry["settings"].secrets)
    return user_id if any(hmac.compare_digest(code.encode(), text.encode()) for code in valid) else None


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    def save_form(request: Request) -> Response:
        response = handler(request)
        if request.method == "POST" and is_inside(request) and request.session.identity is None:
            try:
                save(request, response)
            except SQLAlchemyError:  # the redirect to the sign-in still works
                log.warning("request %s: a form was not saved", request.id, exc_info=True)
        return response

    return save_form


def save(request: Request, response: Response) -> None:
    """Store the form of a request if it has a valid stamp, and add its token to the browser's cookie."""
    fields = _fields(request)
    user_id = owner_of(request, fields.get(OWNER, ""))
    if user_id is None or not origin_is_ours(request):
        return
    values = {name: value for name, value in fields.items() if name not in NOT_SAVED}
    if len(request.path) > PATH_MAX:
        return
    token = secrets.token_urlsafe(32)
    if _store(request, token, user_id, values):
        set_tokens(request, response, [*tokens(request), token][-FORMS_OF_BROWSER:])


def _fields(request: Request) -> dict[str, str]:
    """Return the text fields of the form; none if it is malformed, or too large for a client without a session."""
    if (request.content_length or 0) > ANONYMOUS_BODY_LIMIT:
        return {}
    try:
        check_encoding(request)
        return submitted_all(request, {name for name, value in request.POST.items() if isinstance(value, str)})
    except (HTTPException, UnicodeError, ValueError):
        return {}


def _store(request: Request, token: str, user_id: int, fields: dict[str, str]) -> bool:
    """Store a form, and delete forms older than a session can be. Return False if the user has too many forms."""
    oldest = now() - timedelta(seconds=request.registry["settings"].session_absolute)
    path = request.path.rstrip("/")
    with short_transaction(request) as connection:
        connection.execute(delete(SavedForm).where(SavedForm.kept_at < oldest))
        count = select(func.count()).select_from(SavedForm).where(SavedForm.user_id == user_id)
        if (connection.scalar(count) or 0) >= FORMS_OF_USER:
            return False
        row = {"token_hash": hash_of(token), "user_id": user_id, "path": path, "fields": fields}
        connection.execute(insert(SavedForm).values(row))
        return True


# After the sign-in


def tokens(request: Request) -> list[str]:
    """Return the tokens of the saved forms of this browser, the newest last."""
    cookie = request.cookies.get(cookie_name(request, COOKIE), "")
    return [token for token in cookie.split(".") if _TOKEN.fullmatch(token)]


def find(request: Request, token: str) -> SavedForm | None:
    """Return a saved form of the signed-in user; None if it is another user's, or deleted."""
    form: SavedForm | None = request.dbsession.scalar(select(SavedForm).where(*_is_own(request, token)))
    return form


def forget(request: Request, token: str) -> None:
    """Delete a saved form of the signed-in user, after its values were submitted."""
    request.dbsession.execute(delete(SavedForm).where(*_is_own(request, token)))


def _is_own(request: Request, token: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return SavedForm.token_hash == hash_of(token), SavedForm.user_id == request.user.user_id


def set_tokens(request: Request, response: Response, form_tokens: list[str]) -> None:
    """Replace the tokens in the browser's cookie; an empty list removes the cookie."""
    age = request.registry["settings"].session_absolute
    set_cookie(request, response, COOKIE, ".".join(form_tokens) or None, max_age=age)


def own_stamp(request: Request) -> str:
    """Return the stamp of the signed-in user."""
    return stamp(request.registry["settings"].secrets[0], request.user.user_id)
