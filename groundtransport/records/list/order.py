"""The order of a list: by one column, then by id; NULL comes first. It can be reversed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement

from groundtransport.indexes import sort_column, sort_key
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import ListQuery


@dataclass(frozen=True)
class Order:
    """An order by the column ``name`` of the kind's model."""

    kind: Kind
    name: str
    descending: bool

    @classmethod
    def of(cls, kind: Kind, query: ListQuery) -> "Order":
        """Return the order of a query; without a sort, newest first (deleted records by time of deletion)."""
        name = query.sort.removeprefix("-") or ("deleted_at" if query.deleted else "id")
        return cls(kind, name, query.sort.startswith("-") or not query.sort)

    def turned(self) -> "Order":
        """Return the reversed order."""
        return Order(self.kind, self.name, not self.descending)

    @property
    def index(self) -> str:
        """The name of the index that holds this order."""
        if self.name == "deleted_at":
            return f"ix_{self.kind.table}_deleted"
        return f"ix_{self.kind.table}_by_{sort_column(self.columns[self.name]).key}"

    @property
    def shape(self) -> tuple[str, bool]:
        """The part of a statement cache key that stands for this order."""
        return self.name, self.descending

    @property
    def is_by_id(self) -> bool:
        """True if the order is that of the ids."""
        return self.name == "id"

    @property
    def columns(self) -> Any:
        """The table's columns: SQLAlchemy compiles these faster than the model's attributes."""
        return self.kind.model.__table__.c

    @cached_property
    def key(self) -> ColumnElement[object]:
        """The expression that is sorted by, in the form of the index."""
        return sort_key(self.columns[self.name])

    def clauses(self) -> list[ColumnElement[object]]:
        """Return the ORDER BY clauses."""
        return self.sorting(self.key, self.columns.id)

    def sorting(self, key: Any, record_id: Any) -> list[ColumnElement[object]]:
        """Return the ORDER BY clauses of a subquery whose columns hold the sort key and the id."""
        by_id: ColumnElement[object] = record_id.desc() if self.descending else record_id.asc()
        if self.is_by_id:
            return [by_id]
        return [key.desc().nulls_last() if self.descending else key.asc().nulls_first(), by_id]

    def beyond(self, key: object, record_id: object) -> list[ColumnElement[bool]]:
        """Return the conditions of the index ranges that, in turn, hold the records after the one with this key and id.

        They replace a row comparison, for which SQLite would read through all ties.
        """
        number = self.columns.id
        is_beyond = number < record_id if self.descending else number > record_id
        if self.is_by_id:
            return [is_beyond]
        if key is None:
            ties = self.key.is_(None) & is_beyond
            return [ties] if self.descending else [ties, self.key.is_not(None)]
        ties = (self.key == key) & is_beyond
        if self.descending:
            return [ties, self.key < key, self.key.is_(None)]
        return [ties, self.key > key]
