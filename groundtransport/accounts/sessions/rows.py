"""The conditions of a live session, and the statements on its row, which are built once: most requests need them."""

import hashlib
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.secondfactor.models import SecondFactor
from groundtransport.db import now
from groundtransport.security import derive
from groundtransport.settings import Settings

TOKEN_PART = 16  # bytes, of which a secret id has two: random ones, and our mark

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


_SESSIONS: Any = AdminSession.__table__  # an UPDATE of the class would search the ORM session's objects
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


def hash_of(token: str) -> str:
    """Return the SHA-256 hash of a secret id in hexadecimal, as the tables store it."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token(secrets: tuple[bytes, ...]) -> str:
    """Return a secret id: 128 random bits, and by which we know again that we made it."""
    body = os.urandom(TOKEN_PART)
    return urlsafe_b64encode(body + _mark(secrets[0], body)).rstrip(b"=").decode()


def is_ours(secrets: tuple[bytes, ...], token: str) -> bool:
    """Return whether we made a secret id of 43 characters; one that somebody planted in a browser is none of ours."""
    whole = urlsafe_b64decode(f"{token}=")
    body, mark = whole[:TOKEN_PART], whole[TOKEN_PART:]
    return any(hmac.compare_digest(_mark(secret, body), mark) for secret in secrets)


def _mark(secret: bytes, body: bytes) -> bytes:
    return hmac.new(derive(secret, "session-id/v1"), body, "sha256").digest()[:TOKEN_PART]
