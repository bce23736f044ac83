"""The Pyramid session factory: server-side sessions. The cookie holds a marked random id, the table only its hash.

The row is read once a request. The messages of a successful write are stored in the request's own transaction, all else
in a second one after it has ended: a refused write must not undo it, and on SQLite two at a time would deadlock.
"""

import logging
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from pyramid.decorator import reify
from pyramid.httpexceptions import HTTPServiceUnavailable
from pyramid.interfaces import ISession
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import Connection, Row, delete, insert, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from zope.interface import implementer

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.sessions.rows import SESSION_AND_USER, TOUCH, hash_of, is_ours, live_since, new_token
from groundtransport.db import autocommit_engine, is_write, limit_lock_wait, now, write_engine
from groundtransport.security import Identity, Role
from groundtransport.web.client import agent_of, client_ip_of
from groundtransport.web.cookies import cookie_name
from groundtransport.web.short_transaction import remaining_time

log = logging.getLogger(__name__)

SEEN_EVERY = timedelta(minutes=1)
MESSAGES = 5  # kept for the next page at most: a program never reads them, and each request loads them
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
        self._token = cookie if self.presented else new_token(self._settings.secrets)
        self._token_used = False
        self._loaded = False
        self._changed = False
        self._is_written = False
        self._is_watched = False
        self._new_messages = 0
        self._signed_in = False
        self._new_row: dict[str, Any] = {}
        self._signed_out = False
        self._renewed = False
        self._more_writes: list[Callable[[Connection], object]] = []

    @property
    def cookie_name(self) -> str:
        return cookie_name(self._request, "groundtransport")

    @property
    def token(self) -> str:
        """The secret id. Reading it, to bind something to the session, makes the response set the cookie.

        An id that belongs to no session and was not made by this service is not adopted: its author would know it.
        """
        self._token_used = True
        if self.presented and not is_ours(self._settings.secrets, self._token) and self.identity is None:
            self._token, self.presented = new_token(self._settings.secrets), False
        return self._token

    @property
    def token_hash(self) -> str:
        """The SHA-256 hash of the secret id, as the tables store it."""
        return hash_of(self._token)

    def renew(self) -> None:
        """Replace the secret id and delete the row of the old one, without signing anybody in."""
        self._old_token, self._token = self._token, new_token(self._settings.secrets)
        self._renewed = True

    # The signed-in user

    @reify
    def identity(self) -> Identity | None:
        """The signed-in user, or None; read from the database on first use."""
        row = self._row
        if row is None:
            return None
        return Identity(
            row.user_id,
            row.name,
            Role(row.role),
            row.epoch,
            must_change_password=row.must_change_password,
            preferences=row.preferences,
            full_name=row.full_name or "",
            must_enrol=row.role in self._settings.second_factor_roles and row.sealed is None,
        )

    @property
    def known_identity(self) -> Identity | None:
        """``identity`` if it was read before, else None; never queries the database."""
        return self.identity if self._loaded else None

    @property
    def public_id(self) -> str:
        """The id by which pages name this session; empty if nobody is signed in."""
        row = self._row
        return "" if row is None else row.public_id

    @reify
    def _row(self) -> Row[Any] | None:
        row = self._read() if self.presented else None
        self._loaded = True
        return row

    def _read(self) -> Row[Any] | None:
        values = {"token_hash": hash_of(self._token), **live_since(self._settings)}
        if not is_write(self._request):
            return self._request.dbsession.connection().execute(SESSION_AND_USER, values).one_or_none()
        # Outside of the request's transaction: an anonymous request must not take SQLite's write lock.
        with autocommit_engine(self._engine).connect() as connection:
            return connection.execute(SESSION_AND_USER, values).one_or_none()

    def sign_in(self, user: AdminUser) -> None:
        """Begin a session of a user under a new id; delete the row of the old one, if any."""
        self._old_token, self._token = self._token, new_token(self._settings.secrets)
        self._signed_in = True
        client = {"address": client_ip_of(self._request), "user_agent": agent_of(self._request)}
        self._new_row = {"user_id": user.id, "epoch": user.session_epoch, **client}

    def sign_out(self) -> None:
        """End the session: delete its row and its cookie."""
        self._signed_out = True

    def also(self, write: Callable[[Connection], object]) -> None:
        """Call ``write`` with the connection of the transaction that stores the session, for more rows of a sign-in."""
        self._more_writes.append(write)

    # How long it lasts

    @property
    def expires_at(self) -> datetime | None:
        """The end of the session if it is not used again: the sooner of its idle and its absolute end.

        Like ``known_identity`` it never queries the database, and is None if nobody is known to be signed in.
        """
        row = self._row if self._loaded else None
        if row is None:
            return None
        seen = now() if self._needs_touch else row.seen_at
        idle, absolute = self._settings.session_idle, self._settings.session_absolute
        end: datetime = min(seen + timedelta(seconds=idle), row.created_at + timedelta(seconds=absolute))
        return end

    def watch(self) -> None:
        """Do not count this request as a use of the session: it does not postpone the idle end."""
        self._is_watched = True

    # Messages

    @reify
    def _data(self) -> dict[str, Any]:
        return dict(self._row.data) if self._row else {}

    def flash(self, msg: Any, queue: str = "", allow_duplicate: bool = True) -> None:  # noqa: FBT001, FBT002  # ISession
        """Store a message for the next page; of more than ``MESSAGES`` the oldest are dropped."""
        messages = self._data.setdefault("flash", [])
        messages.append(msg)
        del messages[:-MESSAGES]
        self._new_messages += 1
        self.changed()

    def take_back_messages(self) -> None:
        """Drop the messages of this request: the change that they announce was not made."""
        if self._new_messages:
            del self._data["flash"][-self._new_messages :]
            self._new_messages = 0

    def pop_flash(self, queue: str = "") -> list[Any]:
        """Return the messages, and remove them from the session."""
        if not self._loaded or "flash" not in self._data:
            return []
        self.changed()
        messages: list[Any] = self._data.pop("flash")
        return messages

    def peek_flash(self, queue: str = "") -> list[Any]:
        return list(self._data.get("flash", []))

    def changed(self) -> None:
        """Have the row written at the end of the request."""
        self._changed, self._is_written = True, False

    def invalidate(self) -> None:
        """Do what ``sign_out`` does, by the name of Pyramid's ISession."""
        self.sign_out()

    # Storing the row

    @property
    def is_essential(self) -> bool:
        """Whether the request must fail if the session cannot be written: somebody signs in or out."""
        return self._signed_in or self._signed_out or self._renewed

    def save_with(self, dbsession: Session) -> None:
        """Write messages and last use in the request's own transaction, so that they are stored if it commits.

        The session's row is locked here, after the records and before the chain head: all requests keep that order.
        """
        if self._needs_touch and not self._needs_own_transaction:
            limit_lock_wait(dbsession)
            self._write(dbsession.connection())
            self._request.tm.get().addAfterCommitHook(self._note_commit)

    def _note_commit(self, committed: bool) -> None:  # noqa: FBT001  # the hook's form
        self._is_written = committed

    def save(self, response: Response) -> None:
        """Write what changed and is not written yet, and set or remove the cookie.

        Only a sign-in, a sign-out and what ``also`` writes wait for the disk: a power cut may lose a message.
        Raise SQLAlchemyError if the row cannot be written.
        """
        if self._needs_own_transaction or (self._needs_touch and not self._is_written):
            engine = write_engine(self._engine, remaining_time(self._request), durable=self._needs_own_transaction)
            with engine.begin() as connection:
                self._write(connection)
        if self._signed_out:
            self._set_cookie(response, None)
            response.headers["Clear-Site-Data"] = '"storage"'  # what scripts kept; pages are never kept
        elif self._signed_in or self._renewed or (self._token_used and not self.presented):
            self._set_cookie(response, self._token)

    @property
    def _needs_own_transaction(self) -> bool:
        return self.is_essential or bool(self._more_writes)

    @property
    def _needs_touch(self) -> bool:
        row = self._row if self._loaded else None
        if row is None or self._changed:
            return row is not None
        return not self._is_watched and row.seen_at < now() - SEEN_EVERY

    def _write(self, connection: Connection) -> None:
        for write in self._more_writes:
            write(connection)
        if self._signed_out:
            connection.execute(delete(AdminSession).where(AdminSession.token_hash == hash_of(self._token)))
        elif self._renewed:
            connection.execute(delete(AdminSession).where(AdminSession.token_hash == hash_of(self._old_token)))
        elif self._signed_in:
            # The user's row before the sessions', as ``views.end_other_sessions`` locks them: else both could deadlock.
            is_user = AdminUser.id == self._new_row["user_id"]
            connection.execute(update(AdminUser).where(is_user).values(signed_in_at=now()))
            is_old = AdminSession.token_hash == hash_of(self._old_token)
            is_stale = AdminSession.seen_at < now() - timedelta(seconds=self._settings.session_absolute)
            connection.execute(delete(AdminSession).where(is_old | is_stale))
            values = {"token_hash": hash_of(self._token), "data": self._data, **self._new_row}
            connection.execute(insert(AdminSession).values(values))
        elif self._needs_touch:
            connection.execute(TOUCH, {"own_hash": self.token_hash, "data": self._data, "seen_at": now()})

    def _set_cookie(self, response: Response, token: str | None) -> None:
        """Set the cookie, or remove it if ``token`` is None: with the same attributes, as ``__Host-`` demands."""
        secure = self._request.scheme == "https"
        response.set_cookie(self.cookie_name, token, path="/", httponly=True, samesite="Lax", secure=secure)


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """Return the tween that stores the session after the request's transaction has ended."""

    def save_session(request: Request) -> Response:
        response = handler(request)
        if response.status_int == HTTPServiceUnavailable.code:
            return response  # the database is in trouble: no second wait for it
        try:
            request.session.save(response)
        except SQLAlchemyError:
            # The request's own change is committed: only a message is lost, unless somebody signs in or out.
            if request.session.is_essential:
                raise
            log.warning("request %s: the session was not written", request.id, exc_info=True)
        return response

    return save_session


def tween_within(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """Return the tween under pyramid_tm's that stores the session in the request's transaction, if that will commit."""

    def save_session_too(request: Request) -> Response:
        response = handler(request)
        if is_write(request) and response.status_int < 400 and "dbsession" in vars(request):
            request.session.save_with(request.dbsession)
        return response

    return save_session_too
