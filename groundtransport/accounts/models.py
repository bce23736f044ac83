"""The tables of people, of their sessions, of failed sign-ins and of security events."""

import secrets
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.web.client import AGENT_MAX, CLIENT_IP_MAX

NAME_MAX = 64
FULL_NAME_MAX = 100


class AdminUser(Base):
    """A person who may sign in. Never deleted: the activity log refers to people by number and name."""

    __tablename__ = "admin_user"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_MAX), unique=True)
    # What people read in place of it. The logs refer to the name.
    full_name: Mapped[str | None] = mapped_column(String(FULL_NAME_MAX))
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str] = mapped_column(String(255))
    # A password that the system printed is good for one sign-in: the person then chooses their own.
    must_change_password: Mapped[bool] = mapped_column(default=False)
    # Raised whenever all sessions and edit keys of the person must die.
    session_epoch: Mapped[int] = mapped_column(default=0)
    # What the person chose for themselves, name by name: accounts/preferences.py.
    preferences: Mapped[dict[str, str]] = mapped_column(
        JSON().with_variant(JSONB, "postgresql"), default=dict, server_default="{}"
    )
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    disabled_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    signed_in_at: Mapped[datetime | None] = mapped_column(UTCDateTime)  # the last time


class AdminSession(Base):
    """A signed-in browser. Only a hash of its secret id is stored; ``data`` holds its messages."""

    __tablename__ = "admin_session"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    # What a page may call it by: it opens nothing.
    public_id: Mapped[str] = mapped_column(String(16), unique=True, default=lambda: secrets.token_hex(8))
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    epoch: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    seen_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)  # no index: each save changes it
    # Where it began, and what the browser called itself.
    address: Mapped[str] = mapped_column(String(CLIENT_IP_MAX), default="")
    user_agent: Mapped[str] = mapped_column(String(AGENT_MAX), default="")
    data: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)


class SignInTry(Base):
    """A try to sign in that has not succeeded. Each key that is set counts it; a name stands here as a keyed hash."""

    __tablename__ = "sign_in_try"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    pair: Mapped[str | None] = mapped_column(String(64), index=True)  # a person and an address, or a person's browser
    network: Mapped[str | None] = mapped_column(String(CLIENT_IP_MAX), index=True)
    person: Mapped[str | None] = mapped_column(String(64), index=True)


class SecurityEvent(Base):
    """What happened to accounts, sessions and permissions: never updated. No foreign keys: it outlives all of them."""

    __tablename__ = "security_event"
    __table_args__ = (Index(None, "event", "network", "at"), Index(None, "event", "at"))
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    event: Mapped[str] = mapped_column(String(32))
    user_id: Mapped[int | None] = mapped_column(Id)
    name: Mapped[str] = mapped_column(String(NAME_MAX), index=True)  # who did it
    about: Mapped[str] = mapped_column(String(NAME_MAX), index=True)  # to whom, where that is somebody else
    address: Mapped[str] = mapped_column(String(CLIENT_IP_MAX), index=True)
    network: Mapped[str] = mapped_column(String(CLIENT_IP_MAX))
    request_id: Mapped[str] = mapped_column(String(32))
    details: Mapped[dict[str, str]] = mapped_column(JSON)
    # Empty in events from before there was a chain: accounts/event_chain.py.
    key_id: Mapped[str] = mapped_column(String(16), default="", server_default=text("''"))
    mac: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))


class SecurityHead(Base):
    """The last event of the chain: one row, locked by whoever appends."""

    __tablename__ = "security_head"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))


class KeptForm(Base):
    """What somebody had typed when their session was over, until they have signed in again: accounts/saved_forms.py."""

    __tablename__ = "kept_form"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    address: Mapped[str] = mapped_column(String(200))  # the path that the form was sent to
    fields: Mapped[dict[str, str]] = mapped_column(JSON)
    kept_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
