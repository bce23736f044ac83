"""The tables of the security log. They have no foreign keys: an event outlives the account and the session."""

from datetime import datetime

from sqlalchemy import JSON, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime
from groundtransport.security import NAME_MAX
from groundtransport.web.client import CLIENT_IP_MAX


class SecurityEvent(Base):
    """An event of an account, a session or a permission. A row is never updated."""

    __tablename__ = "security_event"
    __table_args__ = (Index(None, "event", "network", "at"), Index(None, "event", "at"))
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    event: Mapped[str] = mapped_column(String(32))
    user_id: Mapped[int | None] = mapped_column(Id)
    name: Mapped[str] = mapped_column(String(NAME_MAX), index=True)  # the user who caused the event
    about: Mapped[str] = mapped_column(String(NAME_MAX), index=True)  # the other user whose account it concerns, or ""
    address: Mapped[str] = mapped_column(String(CLIENT_IP_MAX), index=True)  # the client IP
    network: Mapped[str] = mapped_column(String(CLIENT_IP_MAX))
    request_id: Mapped[str] = mapped_column(String(32))
    details: Mapped[dict[str, str]] = mapped_column(JSON)
    # Both are empty in events that are older than the chain: event_chain.py.
    key_id: Mapped[str] = mapped_column(String(16), default="", server_default=text("''"))
    mac: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))


class SecurityHead(Base):
    """The chain head: the number and the signature of the last event. One row, locked while events are appended."""

    __tablename__ = "security_head"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))
