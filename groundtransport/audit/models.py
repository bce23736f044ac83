"""The table of the activity log. No foreign keys: an entry outlives the record and the person."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now


class AdminActivity(Base):
    """Who did what to which record, and what changed. Nothing in the application updates or deletes an entry."""

    __tablename__ = "admin_activity"
    __table_args__ = (Index(None, "kind", "record_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
    actor_id: Mapped[int | None] = mapped_column(Id)
    actor: Mapped[str] = mapped_column(String(64))
    request_id: Mapped[str] = mapped_column(String(32))
    address: Mapped[str] = mapped_column(String(64))
    batch: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(8))
    kind: Mapped[str] = mapped_column(String(64))
    record_id: Mapped[int] = mapped_column(Id)
    label: Mapped[str] = mapped_column(String(200))
    # {field: {"old": value, "new": value}}, changed fields only
    changes: Mapped[dict[str, Any]] = mapped_column(JSON)
