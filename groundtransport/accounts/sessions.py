"""Sessions on the server: the cookie holds 256 random bits, the table only their hash.

The row is read once a request and written in a transaction of its own, after the request's has ended:
a refused write does not undo it, and on SQLite nobody waits for themselves.
"""

import hashlib
import logging
import re
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pyramid.decorator import reify
from pyramid.httpexceptions import HTTPServiceUnavailable
from pyramid.interfaces import ISession
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError
from zope.interface import implementer

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.db import BUDGET, now, writing
from groundtransport.security import Identity, Role

log = logging.getLogger(__name__)

SEEN_EVERY = timedelta(minutes=1)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@implementer(ISession)
class ServerSession:
    """``request.session``: who is signed in, and the messages that wait for the next page."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._engine = request.registry["engine"]
        self._settings = request.registry["settings"]
        cookie = request.cookies.get(self.cookie_name, "")
        self.presented = bool(_TOKEN.fullmatch(cookie))
        self._token = cookie if self.presented else secrets.token_urlsafe(32)
        self._token_used = False
        self._loaded = False
        self._changed = False
        self._new_messages = 0
        self._signed_in: AdminUser | None = None
        self._signed_out = False

    @property
    def cookie_name(self) -> str:
        return "__Host-groundtransport" if self._request.scheme == "https" else "groundtransport"

    @property
    def token(self) -> str:
        """The secret id. Who asks for it, to bind something to the session, makes the browser keep it."""
        self._token_used = True
        return self._token

    # Who is signed in

    @property
    def identity(self) -> Identity | None:
        """The signed-in person, read from the database with the first call."""
        row = self._row
        return Identity(row.user_id, row.name, Role(row.role), row.epoch, row.must_change_password) if row else None

    @property
    def known_identity(self) -> Identity | None:
        """The same, without asking the database: None where nobody asked before."""
        return self.identity if self._loaded else None

    @reify
    def _row(self) -> Row[Any] | None:
        row = self._read() if self.presented else None
        self._loaded = True
        return row

    def _read(self) -> Row[Any] | None:
        moment = now()
        table = AdminSession.__table__
        query = (
            select(table, AdminUser.name, AdminUser.role, AdminUser.must_change_password)
            .join(AdminUser, AdminUser.id == AdminSession.user_id)
            .where(
                AdminSession.token_hash == _hash(self._token),
                AdminSession.epoch == AdminUser.session_epoch,
                AdminUser.disabled_at.is_(None),
                AdminSession.seen_at > moment - timedelta(seconds=self._settings.session_idle),
                AdminSession.created_at > moment - timedelta(seconds=self._settings.session_absolute),
            )
        )
        with self._engine.connect() as connection:
            return connection.execute(query).one_or_none()

    def sign_in(self, user: AdminUser) -> None:
        """Begin a session of that person under a new id; the old one, if any, ends."""
        self._old_token, self._token = self._token, secrets.token_urlsafe(32)
        self._signed_in = user
        self._new_row = {"user_id": user.id, "epoch": user.session_epoch}

    def sign_out(self) -> None:
        self._signed_out = True

    # Messages

    @reify
    def _data(self) -> dict[str, Any]:
        return dict(self._row.data) if self._row else {}

    def flash(self, msg: Any, queue: str = "", allow_duplicate: bool = True) -> None:  # noqa: FBT001, FBT002  # ISession
        """Keep a message for the next page."""
        self._data.setdefault("flash", []).append(msg)
        self._new_messages += 1
        self.changed()

    def take_back_messages(self) -> None:
        """Forget the messages of this request: what they tell did not happen."""
        if self._new_messages:
            del self._data["flash"][-self._new_messages :]
            self._new_messages = 0

    def pop_flash(self, queue: str = "") -> list[Any]:
        """Return the messages, once."""
        if not self._loaded or "flash" not in self._data:
            return []
        self.changed()
        messages: list[Any] = self._data.pop("flash")
        return messages

    def peek_flash(self, queue: str = "") -> list[Any]:
        return list(self._data.get("flash", []))

    def changed(self) -> None:
        self._changed = True

    def invalidate(self) -> None:
        self.sign_out()

    # Writing it down

    @property
    def is_essential(self) -> bool:
        """Whether a failure to write the session must be told: somebody signs in or out."""
        return self._signed_in is not None or self._signed_out

    def save(self, response: Response) -> None:
        """Write what changed, and set or remove the cookie."""
        if self._signed_in or self._signed_out or self._needs_touch:
            # What is left of the request's time: a message is not worth more.
            left = max(0.1, BUDGET - (time.monotonic() - self._request.began))
            with writing(self._engine, left).begin() as connection:
                self._write(connection)
        if self._signed_out:
            response.delete_cookie(self.cookie_name, path="/")
        elif self._signed_in or (self._token_used and not self.presented):
            self._set_cookie(response)

    @property
    def _needs_touch(self) -> bool:
        row = self._row if self._loaded else None
        return row is not None and (self._changed or row.seen_at < now() - SEEN_EVERY)

    def _write(self, connection: Connection) -> None:
        mine = AdminSession.token_hash == _hash(self._token)
        if self._signed_out:
            connection.execute(delete(AdminSession).where(mine))
        elif self._signed_in:
            gone = AdminSession.token_hash == _hash(self._old_token)
            stale = AdminSession.seen_at < now() - timedelta(seconds=self._settings.session_absolute)
            connection.execute(delete(AdminSession).where(gone | stale))
            values = {"token_hash": _hash(self._token), "data": self._data, **self._new_row}
            connection.execute(insert(AdminSession).values(values))
        else:
            connection.execute(update(AdminSession).where(mine).values(data=self._data, seen_at=now()))

    def _set_cookie(self, response: Response) -> None:
        secure = self._request.scheme == "https"
        response.set_cookie(self.cookie_name, self._token, path="/", httponly=True, samesite="Lax", secure=secure)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    def save_session(request: Request) -> Response:
        response = handler(request)
        if response.status_int == HTTPServiceUnavailable.code:
            return response  # the database is in trouble: no second wait for it
        try:
            request.session.save(response)
        except SQLAlchemyError:
            # What was committed stays committed, and is answered so: only a message is lost, unless this is a sign-in.
            if request.session.is_essential:
                raise
            log.warning("request %s: the session was not written", request.id, exc_info=True)
        return response

    return save_session
