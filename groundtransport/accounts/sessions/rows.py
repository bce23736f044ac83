"""The conditions of a live session, and the statements on its row, which are built once: most requests need them."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.secondfactor.models import SecondFactor
from groundtransport.db import now
from groundtransport.settings import Settings

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
