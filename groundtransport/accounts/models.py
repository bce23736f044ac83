"""The tables of users, sessions, sign-in attempts and saved forms."""

import secrets
from datetime import datetime

from sqlalchemy import JSON, ForeignKey, String, false, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.security import NAME_MAX
from groundtransport.web.client import AGENT_MAX, CLIENT_IP_MAX

FULL_NAME_MAX = 100


class AdminUser(Base):
    """A user. Rows are never deleted: the activity log refers to users by id and name."""

    __tablename__ = "admin_user"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_MAX), unique=True)
    # Shown in place of ``name``. The logs hold ``name``.
    full_name: Mapped[str | None] = mapped_column(String(FULL_NAME_MAX))
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str] = mapped_column(String(255))
    # True for a one-time password: after the sign-in, the user must choose another.
    must_change_password: Mapped[bool] = mapped_column(default=False)
    # True for a service account, which has API tokens and cannot sign in.
    is_service: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Incremented to end all sessions and invalidate all edit keys of the user.
    session_epoch: Mapped[int] = mapped_column(default=0)
    # The names are those of accounts/profile/preferences.py.
    preferences: Mapped[dict[str, str]] = mapped_column(
        JSON().with_variant(JSONB, "postgresql"), default=dict, server_default="{}"
    )
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    disabled_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    signed_in_at: Mapped[datetime | None] = mapped_column(UTCDateTime)  # the last sign-in


class AdminSession(Base):
    """A session. The table holds only the hash of its secret id. ``data`` holds the flash messages."""

    __tablename__ = "admin_session"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    # An identifier for pages; it does not authenticate.
    public_id: Mapped[str] = mapped_column(String(16), unique=True, default=lambda: secrets.token_hex(8))
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    epoch: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    seen_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)  # no index: each save changes it
    # The client IP and the User-Agent header of the sign-in.
    address: Mapped[str] = mapped_column(String(CLIENT_IP_MAX), default="")
    user_agent: Mapped[str] = mapped_column(String(AGENT_MAX), default="")
    data: Mapped[dict[str, object]] = mapped_column(JSON, default=dict)


class SignInTry(Base):
    """A sign-in attempt that has not succeeded: sign_in/throttle.py.

    It counts towards the limit of each key that is not NULL. ``pair`` and ``person`` are keyed hashes.
    """

    __tablename__ = "sign_in_try"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    # False while the password is being checked.
    is_decided: Mapped[bool] = mapped_column(default=False, server_default=true())
    pair: Mapped[str | None] = mapped_column(String(64), index=True)  # user and network, or user and known browser
    network: Mapped[str | None] = mapped_column(String(CLIENT_IP_MAX), index=True)
    person: Mapped[str | None] = mapped_column(String(64), index=True)


class SavedForm(Base):
    """A form that was submitted after its session had ended, stored until the next sign-in: accounts/saved_forms.py."""

    __tablename__ = "kept_form"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    path: Mapped[str] = mapped_column("address", String(200))  # the target of the form
    fields: Mapped[dict[str, str]] = mapped_column(JSON)
    kept_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
