"""The rows of sessions: what makes one live, and the statements that most requests need, built once."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.secondfactor.models import SecondFactor
from groundtransport.db import now
from groundtransport.settings import Settings

# What a session and its person must fulfil for somebody to be signed in, with the values of ``live_since``.
LIVE = (
    AdminSession.epoch == AdminUser.session_epoch,
    AdminUser.disabled_at.is_(None),
    AdminSession.seen_at > bindparam("seen_since"),
    AdminSession.created_at > bindparam("made_since"),
)


def live_since(settings: Settings) -> dict[str, datetime]:
    """Return since when a session must have been used, and have been made."""
    moment = now()
    return {
        "seen_since": moment - timedelta(seconds=settings.session_idle),
        "made_since": moment - timedelta(seconds=settings.session_absolute),
    }


# Built once: most requests need them.
_SESSIONS: Any = AdminSession.__table__  # an UPDATE of the class would look through the session's objects
TOUCH = (
    update(_SESSIONS)
    .where(_SESSIONS.c.token_hash == bindparam("mine"))
    .values(data=bindparam("data"), seen_at=bindparam("seen_at"))
)
WHO = (
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
    """Return what the tables hold of a secret id."""
    return hashlib.sha256(token.encode()).hexdigest()
