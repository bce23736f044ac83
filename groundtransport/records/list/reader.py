"""Execute the statements of one list query. They read columns, never entities."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Result, Table, func, select
from sqlalchemy.orm import Session

from groundtransport.db import AnyRow, AnySelect
from groundtransport.db.functions import is_one_of
from groundtransport.db.statement_cache import cached_statement
from groundtransport.indexes import spec_of
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import DELETION, ListQuery, row_names
from groundtransport.records.search.predicates import group_conditions
from groundtransport.records.search.terms import Criteria, parse_criteria
from groundtransport.records.search.time_limit import Budget
from groundtransport.records.validity import with_state


class ListReader:
    """The statements that lists and searches share, with their columns, conditions, order and time budget."""

    def __init__(self, dbsession: Session, kind: Kind, query: ListQuery) -> None:
        self.dbsession, self.kind, self.query = dbsession, kind, query
        self.table: Table = kind.model.__table__
        self.order = Order.of(kind, query)
        self.names = [*row_names(kind), *(DELETION if query.deleted else ())]
        self.budget = Budget(dbsession)
        self.criteria = parse_criteria(kind, query) if query.is_filtered else Criteria()

    @cached_property
    def columns(self) -> list[Any]:
        """The columns of a row."""
        return [self.table.c[name] for name in self.names]

    @cached_property
    def scope(self) -> list[ColumnElement[bool]]:
        """The condition of live records, or of deleted ones if the query is for these; [] for hard deletion."""
        if "deleted_at" not in self.table.c:
            return []
        deleted = self.table.c.deleted_at
        return [deleted.is_not(None) if self.query.deleted else deleted.is_(None)]

    @cached_property
    def groups(self) -> list[ColumnElement[bool]]:
        """The conditions by exact value (airport, choices)."""
        return group_conditions(self.kind, self.criteria)

    @cached_property
    def is_sqlite(self) -> bool:
        """True if the database is SQLite."""
        return self.dbsession.get_bind().dialect.name == "sqlite"

    @property
    def counted_by(self) -> str | None:
        """The choice field whose values the counters count; None if the kind has none."""
        spec = spec_of(self.table)
        return spec.counted_by if spec else None

    def run(
        self, name: str, make: Callable[[], AnySelect], *shape: Hashable, **values: object
    ) -> Result[*tuple[Any, ...]]:
        """Execute a cached statement with ``values``; ``make`` builds it for a new name, query shape and ``shape``."""
        criteria = self.criteria
        key = (name, self.table, self.is_sqlite, self.query.deleted, criteria.shape, *shape)
        return self.dbsession.execute(cached_statement(key, make), {**criteria.values, **values})

    def total(self) -> int:
        """Return the number of live (or deleted) records of the kind."""
        return counters.total(self.dbsession, self.kind, deleted=self.query.deleted)

    def extrapolate(self, number: int, lowest: int) -> int:
        """Return an estimate of the matches, of which ``number`` have an id of ``lowest`` or more."""

        def make() -> AnySelect:  # two subqueries: SQLite would read the whole table for both at once
            ids = self.table.c.id
            return select(select(func.min(ids)).scalar_subquery(), select(func.max(ids)).scalar_subquery())

        first, last = self.run("span", make).one()
        return int(number * (last - first + 1) // (last - lowest + 1))

    def by_ids(self, ids: Sequence[int]) -> list[dict[str, object]]:
        """Return the rows with these ids, in that order, as ``to_dicts`` does; ids without a record are left out."""
        if not ids:
            return []
        rows = self.run("by ids", lambda: select(*self.columns).where(is_one_of(self.table.c.id, "ids")), ids=ids)
        by_id = {row.id: row for row in rows.all()}
        return self.to_dicts(by_id[number] for number in ids if number in by_id)

    def to_dicts(self, rows: Iterable[AnyRow]) -> list[dict[str, object]]:
        """Return rows as dictionaries of ``id``, the kind's fields, FURTHER and ``validity``."""
        return [with_state(dict(zip(self.names, row, strict=True))) for row in rows]
