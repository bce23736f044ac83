"""The rows of sessions: the conditions of a live one, the statements of most requests, and the secret ids."""

import hashlib
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.secondfactor.models import SecondFactor
from groundtransport.db import now, table_of
from groundtransport.security import derive
from groundtransport.settings import Settings

TOKEN_PART = 16  # bytes; a secret id has two parts, random bytes and their keyed hash

# The WHERE clauses of a session that signs its user in; ``live_since`` returns the values of their parameters.
LIVE = (
    AdminSession.epoch == AdminUser.session_epoch,
    AdminUser.disabled_at.is_(None),
    AdminSession.seen_at > bindparam("seen_since"),
    AdminSession.created_at > bindparam("created_since"),
)


def live_since(settings: Settings) -> dict[str, datetime]:
    """Return the parameters of ``LIVE``: the earliest last use and the earliest creation of a live session."""
    at = now()
    return {
        "seen_since": at - timedelta(seconds=settings.session_idle),
        "created_since": at - timedelta(seconds=settings.session_absolute),
    }


_SESSIONS = table_of(AdminSession)  # an UPDATE of the class would search the ORM session's objects
TOUCH = (
    update(_SESSIONS)
    .where(_SESSIONS.c.token_hash == bindparam("own_hash"))
    .values(data=bindparam("data"), seen_at=bindparam("seen_at"))
)
SESSION_AND_USER = (
    select(
        AdminSession.__table__,
        *(AdminUser.name, AdminUser.full_name, AdminUser.role, AdminUser.preferences, AdminUser.must_change_password),
        SecondFactor.sealed,
    )
    .join(AdminUser, AdminUser.id == AdminSession.user_id)
    .outerjoin(SecondFactor, SecondFactor.user_id == AdminUser.id)
    .where(AdminSession.token_hash == bindparam("token_hash"), *LIVE)
)


def delete_session(connection: Connection, token: str) -> None:
    """Delete the row of a secret id, if there is one."""
    connection.execute(delete(AdminSession).where(AdminSession.token_hash == hash_of(token)))


def insert_session(connection: Connection, settings: Settings, values: Mapping[str, object], replaced: str) -> None:
    """Insert the row of a sign-in, note its time, and delete the row with the hash ``replaced`` and all expired rows.

    The user's row is locked before those of sessions, as ``views.end_other_sessions`` does: else both could deadlock.
    """
    connection.execute(update(AdminUser).where(AdminUser.id == values["user_id"]).values(signed_in_at=now()))
    is_expired = AdminSession.seen_at < now() - timedelta(seconds=settings.session_absolute)
    connection.execute(delete(AdminSession).where((AdminSession.token_hash == replaced) | is_expired))
    connection.execute(insert(AdminSession).values(values))


def hash_of(token: str) -> str:
    """Return the SHA-256 hash of a secret id in hexadecimal, as the tables store it."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token(secrets: tuple[bytes, ...]) -> str:
    """Return a new secret id: 128 random bits, and the first 128 bits of their keyed hash, which proves its origin."""
    body = os.urandom(TOKEN_PART)
    return urlsafe_b64encode(body + _keyed_hash(secrets[0], body)).rstrip(b"=").decode()


def is_ours(secrets: tuple[bytes, ...], token: str) -> bool:
    """Return True if this service made a secret id of 43 characters, False if somebody else put it into a cookie."""
    decoded = urlsafe_b64decode(f"{token}=")
    body, mac = decoded[:TOKEN_PART], decoded[TOKEN_PART:]
    return any(hmac.compare_digest(_keyed_hash(secret, body), mac) for secret in secrets)


def _keyed_hash(secret: bytes, body: bytes) -> bytes:
    return hmac.new(derive(secret, "session-id/v1"), body, "sha256").digest()[:TOKEN_PART]
