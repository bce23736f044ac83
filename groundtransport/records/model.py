"""The columns that the tables of all kinds share."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import ColumnElement, ForeignKey, Index, String, Table, Text, and_, false, true
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from groundtransport.airports.models import AIRPORT_NAME_MAX
from groundtransport.db import Id, UTCDateTime, now
from groundtransport.indexes import mark
from groundtransport.records import validity
from groundtransport.records.fields.columns import DateColumn

SOURCE_MAX, SOURCE_ID_MAX = 100, 200  # characters
OTHER_PLACE = "other_place"  # the column, its filter and its name in JSON and files
FOLDED = {"folded": True}  # info of a text column that is sorted as searches compare it: without case and accents


class RecordColumns:
    """The columns of every record. A kind's model adds its own, and ``SoftDelete`` if deleted records can be restored.

    Its table gets an index for each sortable column, a search index and counters (groundtransport/indexes/). A text
    column with ``info=FOLDED`` gets another one, which holds its folded text and by which it is sorted.
    """

    if TYPE_CHECKING:  # the mapping sets it
        __table__: ClassVar[Any]  # a Table; not more exact than in the declarative base

    id: Mapped[int] = mapped_column(Id, primary_key=True, sort_order=-10)
    airport_id: Mapped[int] = mapped_column(ForeignKey("airport.id"), index=True, sort_order=-9)
    airport_code: Mapped[str] = mapped_column(String(3), sort_order=-8)
    airport_name: Mapped[str] = mapped_column(String(AIRPORT_NAME_MAX), sort_order=-7, info=FOLDED)
    # Where the record comes from, such as the name of a feed, and its key there: see ``_unique_source``.
    source: Mapped[str | None] = mapped_column(String(SOURCE_MAX), sort_order=80)
    source_id: Mapped[str | None] = mapped_column(String(SOURCE_ID_MAX), sort_order=81)
    # The first and the last day, such as those of a season: see records/validity.py.
    valid_from: Mapped[str | None] = mapped_column(DateColumn, sort_order=78)
    valid_until: Mapped[str | None] = mapped_column(DateColumn, sort_order=79)
    # When and by whom the record was last checked to be right. It is no change: version and updated_at stay.
    verified_at: Mapped[datetime | None] = mapped_column(UTCDateTime, sort_order=88)
    verified_by: Mapped[str | None] = mapped_column(String(64), sort_order=89)
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

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        table: Table = cls.__table__
        mark(table)
        _unique_source(table)
        _merged_indexes(table)
        _mark_index(table)

    @classmethod
    def is_live(cls) -> ColumnElement[bool]:
        """Return the condition that a record is not deleted."""
        return true()

    @property
    def validity(self) -> str:
        """Return which of ``validity.STATES`` the record is in today."""
        return validity.state_of(self.valid_from, self.valid_until)

    @property
    def is_deleted(self) -> bool:
        """Return True if the record is marked as deleted."""
        return False


def _unique_source(table: Table) -> None:
    """Add the unique index of a kind's table: no two live records have the same ``source`` and ``source_id``."""
    has_key = table.c.source_id.is_not(None)
    condition = and_(has_key, table.c.deleted_at.is_(None)) if "deleted_at" in table.c else has_key
    name, columns = f"ix_{table.name}_source", (table.c.source, table.c.source_id)
    Index(name, *columns, unique=True, sqlite_where=condition, postgresql_where=condition)


def _merged_indexes(table: Table) -> None:
    """Add the indexes of merged records, which are few: by their survivor, and by their source."""
    if "merged_into" in table.c:
        condition = table.c.merged_into.is_not(None)
        for name, columns in (("into", [table.c.merged_into]), ("source", [table.c.source, table.c.source_id])):
            index = f"ix_{table.name}_merged_{name}"
            Index(index, *columns, sqlite_where=condition, postgresql_where=condition)


def _mark_index(table: Table) -> None:
    """Add the index of records at another place, which are few."""
    if OTHER_PLACE in table.c:
        is_marked = table.c[OTHER_PLACE]
        condition = and_(is_marked, table.c.deleted_at.is_(None)) if "deleted_at" in table.c else is_marked
        Index(other_place_index(table), table.c.id, sqlite_where=condition, postgresql_where=condition)


def other_place_index(table: Table) -> str:
    """Return the name of the index of a kind's records at another place."""
    return f"ix_{table.name}_{OTHER_PLACE}"


class OtherPlace:
    """Mixin: the city of a record can be none of its airport's, and the record is then marked. List it before
    RecordColumns. The writer sets the mark when the city or the airport changes: records/derived.py.
    """

    other_place: Mapped[bool] = mapped_column(default=False, server_default=false(), sort_order=87)


class SoftDelete:
    """Mixin: a deletion sets ``deleted_at`` and removes the record from every list. List it before RecordColumns."""

    deleted_at: Mapped[datetime | None] = mapped_column(UTCDateTime, sort_order=94)
    deleted_by: Mapped[str | None] = mapped_column(String(64), sort_order=94)
    # The record of the same kind that this one was merged into; set while this one is deleted.
    merged_into: Mapped[int | None] = mapped_column(Id, sort_order=94)

    @classmethod
    def is_live(cls) -> ColumnElement[bool]:
        return cls.deleted_at.is_(None)

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None
