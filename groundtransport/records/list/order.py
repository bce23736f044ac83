"""The order of a list: by one column, ties by id, an absent value before every other. Read forwards or backwards."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement

from groundtransport.indexes import sort_key
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import ListQuery


@dataclass(frozen=True)
class Order:
    """``name`` is a column of the kind's model."""

    kind: Kind
    name: str
    descending: bool

    @classmethod
    def of(cls, kind: Kind, query: ListQuery) -> "Order":
        name = query.sort.removeprefix("-") or ("deleted_at" if query.deleted else "id")
        return cls(kind, name, query.sort.startswith("-") or not query.sort)

    def turned(self) -> "Order":
        """Return the same order, read from its end."""
        return Order(self.kind, self.name, not self.descending)

    @property
    def index(self) -> str:
        return f"ix_{self.kind.table}_deleted" if self.name == "deleted_at" else f"ix_{self.kind.table}_by_{self.name}"

    @property
    def shape(self) -> tuple[str, bool]:
        return self.name, self.descending

    @property
    def is_by_id(self) -> bool:
        return self.name == "id"

    @property
    def columns(self) -> Any:
        """The table's, not the model's: SQLAlchemy then leaves out what only entities need."""
        return self.kind.model.__table__.c

    @cached_property
    def key(self) -> ColumnElement[Any]:
        return sort_key(self.columns[self.name])

    def clauses(self) -> list[ColumnElement[Any]]:
        """Return what ORDER BY needs."""
        number = self.columns.id
        return self.sorting(number if self.is_by_id else self.key, number)

    def sorting(self, key: Any, number: Any) -> list[ColumnElement[Any]]:
        """Return the same for columns that hold the key and the id."""
        by_id: ColumnElement[Any] = number.desc() if self.descending else number.asc()
        if self.is_by_id:
            return [by_id]
        return [key.desc().nulls_last() if self.descending else key.asc().nulls_first(), by_id]

    def beyond(self, key: Any, record_id: Any, *, itself: bool = False) -> list[ColumnElement[bool]]:
        """Return conditions that, one after the other, give the records that follow one with that key and id.

        Ranges of the index, each: SQLite would read through all ties for the comparison of a pair. ``itself``, for an
        order by id alone, lets the record with that id come, too.
        """
        number = self.columns.id
        if self.is_by_id:
            if itself:
                return [number <= record_id if self.descending else number >= record_id]
            return [number < record_id if self.descending else number > record_id]
        further = number < record_id if self.descending else number > record_id
        if key is None:
            ties = self.key.is_(None) & further
            return [ties] if self.descending else [ties, self.key.is_not(None)]
        ties = (self.key == key) & further
        if self.descending:
            return [ties, self.key < key, self.key.is_(None)]
        return [ties, self.key > key]
