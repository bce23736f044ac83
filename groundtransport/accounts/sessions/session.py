"""The Pyramid session factory: server-side sessions. The cookie holds a secret id, the table only its hash.

The row is read once in a request. The messages of a successful write are stored in the request's own transaction, all
else in a second one after it has ended (storing.py): a refused write must not undo it, and on SQLite two transactions
at a time would deadlock.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from pyramid.decorator import reify
from pyramid.interfaces import ISession
from pyramid.response import Response
from sqlalchemy import Connection
from sqlalchemy.orm import Session
from zope.interface import implementer

from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.sessions.messages import FlashQueue
from groundtransport.accounts.sessions.rows import (
    SESSION_AND_USER,
    TOUCH,
    delete_session,
    hash_of,
    insert_session,
    is_ours,
    live_since,
    new_token,
)
from groundtransport.db import AnyRow, autocommit_engine, is_write, limit_lock_wait, now, write_engine
from groundtransport.request import Request
from groundtransport.security import Identity, Role
from groundtransport.web.client import agent_of, client_ip_of
from groundtransport.web.cookies import cookie_name, set_cookie
from groundtransport.web.short_transaction import remaining_time

COOKIE = "groundtransport"
SEEN_EVERY = timedelta(minutes=1)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@implementer(ISession)
class ServerSession(FlashQueue):
    """``request.session``: the signed-in user, and the messages for the next page."""

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
        self._keeps_idle_end = False
        self._signed_in = False
        self._new_row: dict[str, object] = {}
        self._signed_out = False
        self._renewed = False
        self._more_writes: list[Callable[[Connection], object]] = []

    @property
    def cookie_name(self) -> str:
        """The name of the cookie, with the prefix ``__Host-`` over https."""
        return cookie_name(self._request, COOKIE)

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
    def _row(self) -> AnyRow | None:
        row = self._read() if self.presented else None
        self._loaded = True
        return row

    def _read(self) -> AnyRow | None:
        values = {"token_hash": hash_of(self._token), **live_since(self._settings)}
        if not is_write(self._request):
            return self._request.dbsession.connection().execute(SESSION_AND_USER, values).one_or_none()
        # Outside of the request's transaction: an anonymous request must not take SQLite's write lock.
        with autocommit_engine(self._engine).connect() as connection:
            return connection.execute(SESSION_AND_USER, values).one_or_none()

    def sign_in(self, user: AdminUser) -> None:
        """Start a session of a user under a new id; delete the row of the old one, if any."""
        self._old_token, self._token = self._token, new_token(self._settings.secrets)
        self._signed_in = True
        client = {"address": client_ip_of(self._request), "user_agent": agent_of(self._request)}
        self._new_row = {"user_id": user.id, "epoch": user.session_epoch, **client}

    def sign_out(self) -> None:
        """End the session: delete its row and its cookie."""
        self._signed_out = True

    def add_write(self, write: Callable[[Connection], object]) -> None:
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

    def keep_idle_end(self) -> None:
        """Do not count this request as a use of the session: it does not postpone the idle end."""
        self._keeps_idle_end = True

    @reify
    def _data(self) -> dict[str, object]:
        return dict(self._row.data) if self._row else {}

    def changed(self) -> None:
        """Have the row written at the end of the request."""
        self._changed, self._is_written = True, False

    def invalidate(self) -> None:
        """Do what ``sign_out`` does, by the name of Pyramid's ISession."""
        self.sign_out()

    # Storing the row

    @property
    def is_essential(self) -> bool:
        """True for a sign-in and a sign-out: the request must fail if the session cannot be written."""
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

        Only a sign-in, a sign-out and what ``add_write`` added wait for the disk: a power cut may lose a message.
        Raise SQLAlchemyError if the row cannot be written.
        """
        is_due = self._needs_touch and not self._is_written and not self._request.is_leader_away
        if self._needs_own_transaction or is_due:
            engine = write_engine(self._engine, remaining_time(self._request), durable=self._needs_own_transaction)
            with engine.begin() as connection:
                self._write(connection)
        if self._signed_out:
            set_cookie(self._request, response, COOKIE, None)
            response.headers["Clear-Site-Data"] = '"storage"'  # of the scripts; pages are never cached
        elif self._signed_in or self._renewed or (self._token_used and not self.presented):
            set_cookie(self._request, response, COOKIE, self._token)

    @property
    def _needs_own_transaction(self) -> bool:
        return self.is_essential or bool(self._more_writes)

    @property
    def _needs_touch(self) -> bool:
        row = self._row if self._loaded else None
        if row is None or self._changed:
            return row is not None
        return not self._keeps_idle_end and row.seen_at < now() - SEEN_EVERY

    def _write(self, connection: Connection) -> None:
        for write in self._more_writes:
            write(connection)
        if self._signed_out:
            delete_session(connection, self._token)
        elif self._renewed:
            delete_session(connection, self._old_token)
        elif self._signed_in:
            replaced = hash_of(self._old_token)
            values = {"token_hash": self.token_hash, "data": self._data, **self._new_row}
            insert_session(connection, self._settings, values, replaced)
        elif self._needs_touch:
            connection.execute(TOUCH, {"own_hash": self.token_hash, "data": self._data, "seen_at": now()})
