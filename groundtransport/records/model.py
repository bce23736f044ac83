"""The columns that the tables of all kinds share."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, String, Text, true
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from groundtransport.airports.models import AIRPORT_NAME_MAX
from groundtransport.db import Id, UTCDateTime, now
from groundtransport.indexes import mark


class RecordColumns:
    """The columns of every record. A kind's model adds its own, and ``SoftDelete`` if deleted records can be restored.

    Its table gets an index for each sortable column, a search index and counters (groundtransport/indexes/).
    """

    id: Mapped[int] = mapped_column(Id, primary_key=True, sort_order=-10)
    airport_id: Mapped[int] = mapped_column(ForeignKey("airport.id"), index=True, sort_order=-9)
    airport_code: Mapped[str] = mapped_column(String(3), sort_order=-8)
    airport_name: Mapped[str] = mapped_column(String(AIRPORT_NAME_MAX), sort_order=-7)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, sort_order=90)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, sort_order=91)
    # The number of changes; an update names the version that it replaces.
    version: Mapped[int] = mapped_column(default=1, sort_order=92)
    # The token of the form that created the record: a form that is sent twice creates one record.
    form_token: Mapped[str | None] = mapped_column(String(64), unique=True, sort_order=95)
    # The folded text that searches look in; the writer stores it, records/search/terms.py makes it.
    search_text: Mapped[str] = mapped_column(Text, sort_order=93)

    @declared_attr.directive
    @classmethod
    def __mapper_args__(cls) -> dict[str, object]:
        # The writer sets the version itself: an update increments it, a deletion does not.
        return {"version_id_col": cls.version, "version_id_generator": False}

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> dict[str, object]:
        return {"sqlite_autoincrement": True}  # else SQLite reuses the id of a deleted record

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        mark(cls.__table__)  # type: ignore[attr-defined]  # set by the mapping

    @classmethod
    def is_live(cls) -> ColumnElement[bool]:
        """Return the condition that a record is not deleted."""
        return true()

    @property
    def is_deleted(self) -> bool:
        return False


class SoftDelete:
    """Mixin: a deletion sets ``deleted_at`` and removes the record from every list. List it before RecordColumns."""

    deleted_at: Mapped[datetime | None] = mapped_column(UTCDateTime, sort_order=94)
    deleted_by: Mapped[str | None] = mapped_column(String(64), sort_order=94)

    @classmethod
    def is_live(cls) -> ColumnElement[bool]:
        return cls.deleted_at.is_(None)

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None
