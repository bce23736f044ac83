"""The tables of the activity log. They have no foreign keys: an entry outlives the record and the user.

Database triggers refuse the update of an entry, and the deletion of an entry that no archive mark covers.
"""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Dialect, Index, String, Text, TypeDecorator, text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.events import Value
from groundtransport.signing import canonical

ROTATE, ARCHIVE = "rotate", "archive"


class CanonicalJSON(TypeDecorator[Any]):
    """JSON stored as the canonical text that is signed. A ``str`` is stored as it is: it is canonical already."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str:
        return value if isinstance(value, str) else canonical(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value)


class AdminActivity(Base):
    """An entry: a change of a record. The ids have no gaps and follow the order of the commits."""

    __tablename__ = "admin_activity"
    __table_args__ = (Index(None, "kind", "record_id", "id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
    actor_id: Mapped[int | None] = mapped_column(Id)
    actor: Mapped[str] = mapped_column(String(64), index=True)
    request_id: Mapped[str] = mapped_column(String(32))
    address: Mapped[str] = mapped_column(String(64))  # the client IP
    batch: Mapped[str] = mapped_column(String(64), index=True)
    action: Mapped[str] = mapped_column(String(8))
    kind: Mapped[str] = mapped_column(String(64))
    record_id: Mapped[int] = mapped_column(Id)
    version: Mapped[int]  # of the record, after the change
    airport_code: Mapped[str] = mapped_column(String(3), index=True)
    label: Mapped[str] = mapped_column(String(200))
    # {field: {"old": value, "new": value}} for the changed fields
    changes: Mapped[dict[str, Value]] = mapped_column(CanonicalJSON)
    key_id: Mapped[str] = mapped_column(String(16))
    mac: Mapped[str] = mapped_column(String(64))
    # The label and the actor, folded: audit/search_texts.py. Derived, so not signed.
    search_text: Mapped[str] = mapped_column(Text)
    # The name of the API token that the actor's program sent; "" for a person in a browser and for a command.
    token: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))


class AuditHead(Base):
    """The chain head: one row with the number and the signature of the last entry. A writer locks it last."""

    __tablename__ = "audit_head"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))


class AuditMark(Base):
    """A signed mark: the key was rotated after the entry ``number``, or the entries up to it were archived."""

    __tablename__ = "audit_mark"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    reason: Mapped[str] = mapped_column(String(8))
    number: Mapped[int] = mapped_column(Id)
    mac: Mapped[str] = mapped_column(String(64))
    digest: Mapped[str] = mapped_column(String(64))  # of all entries up to ``number``, computed without a key
    archived_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    key_id: Mapped[str] = mapped_column(String(16))
    signature: Mapped[str] = mapped_column(String(64))

    @property
    def text(self) -> str:
        """The signed text."""
        until = self.archived_until.isoformat() if self.archived_until else None
        values = [self.at.isoformat(), self.reason, self.number, self.mac, self.digest, until, self.key_id]
        return f"mark {canonical(values)}"
