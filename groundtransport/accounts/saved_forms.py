"""A form that was sent after its session had ended is kept for its writer until they have signed in again.

Only a form that bears the stamp of the person it was made for is kept: strangers cannot fill the table, nor lay words
into somebody's form. It is never saved by itself: its writer, and nobody else, sees it again, and decides.
"""

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pyramid.httpexceptions import HTTPException
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.accounts.models import KeptForm
from groundtransport.db import BUDGET, now, write_engine
from groundtransport.security import derive, origin_is_ours
from groundtransport.web.login_required import check_encoding, is_inside

log = logging.getLogger(__name__)

COOKIE = "groundtransport-form"
OWNER = "form_owner"  # the hidden field with the stamp
SENT_EACH_TIME = ("csrf_token", OWNER, "_method")
SIZE_MAX = 64 * 1024  # characters of one form
EACH = 20  # forms of one person
WAITING = 5  # forms of one browser
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_STAMP = re.compile(r"([0-9]{1,18})\.([0-9a-f]{64})", re.ASCII)


def stamp(secret: bytes, user_id: int) -> str:
    """Return what a form holds to say whose it is."""
    return f"{user_id}.{hmac.new(derive(secret, 'kept-form/v1'), str(user_id).encode(), 'sha256').hexdigest()}"


def owner_of(request: Request, text: str) -> int | None:
    """Return the person of a stamp; None for one that we did not make."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    user_id = int(match[1])
    ours = (stamp(secret, user_id) for secret in request.registry["settings"].secrets)
    return user_id if any(hmac.compare_digest(one.encode(), text.encode()) for one in ours) else None


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    def keep_form(request: Request) -> Response:
        response = handler(request)
        if request.method == "POST" and is_inside(request) and request.session.identity is None:
            try:
                keep(request, response)
            except SQLAlchemyError:  # they are sent to the sign-in page all the same
                log.warning("request %s: a form was not kept", request.id, exc_info=True)
        return response

    return keep_form


def keep(request: Request, response: Response) -> None:
    """Store the form of a request, if it is one to keep, and let the browser hold its token."""
    fields = _fields(request)
    user_id = owner_of(request, fields.get(OWNER, ""))
    if user_id is None or not origin_is_ours(request):
        return
    kept = {name: value for name, value in fields.items() if name not in SENT_EACH_TIME}
    if sum(len(name) + len(value) for name, value in kept.items()) > SIZE_MAX or len(request.path) > 200:
        return
    token = secrets.token_urlsafe(32)
    if _store(request, token, {"user_id": user_id, "address": request.path.rstrip("/"), "fields": kept}):
        _set_cookie(request, response, [*tokens(request), token][-WAITING:])


def _fields(request: Request) -> dict[str, str]:
    try:
        check_encoding(request)
        return {name: value for name, value in request.POST.items() if isinstance(value, str)}
    except (HTTPException, UnicodeError, ValueError):
        return {}


def _store(request: Request, token: str, values: dict[str, Any]) -> bool:
    """Store a form in a transaction of its own, and sweep out what nobody came back for; False when it is too much."""
    left = max(0.1, BUDGET - (time.monotonic() - request.began))
    oldest = now() - timedelta(seconds=request.registry["settings"].session_absolute)
    with write_engine(request.registry["engine"], left).begin() as connection:
        connection.execute(delete(KeptForm).where(KeptForm.kept_at < oldest))
        theirs = select(func.count()).select_from(KeptForm).where(KeptForm.user_id == values["user_id"])
        if connection.scalar(theirs) >= EACH:  # type: ignore[operator]  # a count is a number
            return False
        connection.execute(insert(KeptForm).values(token_hash=_hash(token), **values))
        return True


# After the sign-in


def tokens(request: Request) -> list[str]:
    """Return the tokens of the forms that wait for the person at this browser, the newest last."""
    return [token for token in request.cookies.get(_cookie_name(request), "").split(".") if _TOKEN.fullmatch(token)]


def find(request: Request, token: str) -> KeptForm | None:
    """Return a form that the signed-in person sent; None for another's, and for one that is gone."""
    mine = (KeptForm.token_hash == _hash(token), KeptForm.user_id == request.identity.user_id)
    form: KeptForm | None = request.dbsession.scalar(select(KeptForm).where(*mine))
    return form


def forget(request: Request, token: str) -> None:
    """Remove a form of the signed-in person: it was saved."""
    mine = (KeptForm.token_hash == _hash(token), KeptForm.user_id == request.identity.user_id)
    request.dbsession.execute(delete(KeptForm).where(*mine))


def hand_over(request: Request, response: Response, waiting: list[str]) -> None:
    """Let the browser hold only those tokens that still wait."""
    if waiting:
        _set_cookie(request, response, waiting)
    else:
        _set_cookie(request, response, [])


def _set_cookie(request: Request, response: Response, held: list[str]) -> None:
    """Set the cookie, or remove it: with the same attributes, or a browser would not believe a ``__Host-`` one."""
    value, age = ".".join(held) or None, request.registry["settings"].session_absolute
    secure = request.scheme == "https"
    name = _cookie_name(request)
    response.set_cookie(name, value, max_age=age, path="/", httponly=True, samesite="Lax", secure=secure)


def _cookie_name(request: Request) -> str:
    return f"__Host-{COOKIE}" if request.scheme == "https" else COOKIE


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def own_stamp(request: Request) -> str:
    """Return the stamp of the signed-in person."""
    return stamp(request.registry["settings"].secrets[0], request.identity.user_id)
