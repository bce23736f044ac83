"""The tables of the activity log. No foreign keys: an entry outlives the record and the person.

Triggers of the database refuse to update an entry, and to delete one that no archive mark covers.
"""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Dialect, Index, String, Text, TypeDecorator
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.audit.chain import canonical
from groundtransport.db import Base, Id, UTCDateTime, now

ROTATE, ARCHIVE = "rotate", "archive"


class CanonicalJSON(TypeDecorator[Any]):
    """JSON kept as the very text that is signed. A text is taken for that: no entry's changes are a text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return value if isinstance(value, str) else canonical(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value)


class AdminActivity(Base):
    """Who did what to which record, and what changed. ``id`` counts without gaps, in the order of the commits."""

    __tablename__ = "admin_activity"
    __table_args__ = (Index(None, "kind", "record_id", "id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    actor_id: Mapped[int | None] = mapped_column(Id)
    actor: Mapped[str] = mapped_column(String(64), index=True)
    request_id: Mapped[str] = mapped_column(String(32))
    address: Mapped[str] = mapped_column(String(64))
    batch: Mapped[str] = mapped_column(String(64), index=True)
    action: Mapped[str] = mapped_column(String(8))
    kind: Mapped[str] = mapped_column(String(64))
    record_id: Mapped[int] = mapped_column(Id)
    version: Mapped[int]  # of the record, after the change
    airport_code: Mapped[str] = mapped_column(String(3), index=True)
    label: Mapped[str] = mapped_column(String(200))
    # {field: {"old": value, "new": value}}, changed fields only
    changes: Mapped[dict[str, Any]] = mapped_column(CanonicalJSON)
    key_id: Mapped[str] = mapped_column(String(16))
    mac: Mapped[str] = mapped_column(String(64))
    # The label and the person, folded, for searching alone: derived, and not signed.
    search_text: Mapped[str] = mapped_column(Text)


class AuditHead(Base):
    """The chain head: one row with the number and the signature of the last entry. A writer locks it last."""

    __tablename__ = "audit_head"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))


class AuditMark(Base):
    """A signed remark about the entries up to ``number``: the key was changed there, or they were archived."""

    __tablename__ = "audit_mark"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    reason: Mapped[str] = mapped_column(String(8))
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))
    digest: Mapped[str] = mapped_column(String(64))  # of all entries up to there, without a key
    archived_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    key_id: Mapped[str] = mapped_column(String(16))
    signature: Mapped[str] = mapped_column(String(64))

    @property
    def text(self) -> str:
        """What is signed."""
        until = self.archived_until.isoformat() if self.archived_until else None
        values = [self.at.isoformat(), self.reason, self.number, self.mac, self.digest, until, self.key_id]
        return f"mark {canonical(values)}"
