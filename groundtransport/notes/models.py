"""The table of notes."""

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.security import NAME_MAX

NOTE_MAX = 2_000  # characters


class RecordNote(Base):
    """A note on a record. A form that is sent twice makes one, by its ``form_token``."""

    __tablename__ = "record_note"
    __table_args__ = (Index(None, "kind", "record_id", "id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    record_id: Mapped[int] = mapped_column(Id)
    text: Mapped[str] = mapped_column(String(NOTE_MAX))
    author_id: Mapped[int] = mapped_column(Id)
    author: Mapped[str] = mapped_column(String(NAME_MAX))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    form_token: Mapped[str | None] = mapped_column(String(64), unique=True)
