"""Execute the statements of one list query. They read columns, never entities."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Result, Row, Select, Table, Text, any_, bindparam, func, select
from sqlalchemy.orm import Session

from groundtransport.db.statement_cache import cached_statement
from groundtransport.indexes import spec_of
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import DELETION, ListQuery, sortable
from groundtransport.records.search.predicates import group_conditions
from groundtransport.records.search.terms import Criteria, parse_criteria
from groundtransport.records.search.time_limit import Budget


class ListReader:
    """The statements that lists and searches share, with their columns, conditions, order and time budget."""

    def __init__(self, dbsession: Session, kind: Kind, query: ListQuery) -> None:
        self.dbsession, self.kind, self.query = dbsession, kind, query
        self.table: Table = kind.model.__table__
        self.order = Order.of(kind, query)
        self.names, self.columns = _shown_columns(kind, deleted=query.deleted)
        self.budget = Budget(dbsession)
        self.criteria = parse_criteria(kind, query) if query.is_filtered else Criteria()

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
        return self.dbsession.get_bind().dialect.name == "sqlite"

    @property
    def counted_by(self) -> str | None:
        """The choice field whose values the counters count; None if the kind has none."""
        spec = spec_of(self.table)
        return spec.counted_by if spec else None

    def run(
        self, name: str, make: Callable[[], Select[Any]], *shape: Hashable, **values: Any
    ) -> Result[*tuple[Any, ...]]:
        """Execute a cached statement with ``values``; ``make`` builds it for a new name, query shape and ``shape``."""
        criteria = self.criteria
        key = (name, self.table, self.is_sqlite, self.query.deleted, criteria.matches, tuple(criteria.groups), *shape)
        return self.dbsession.execute(cached_statement(key, make), {**criteria.values, **values})

    def total(self) -> int:
        """Return the number of live (or deleted) records of the kind."""
        return counters.total(self.dbsession, self.kind, deleted=self.query.deleted)

    def select_by_ids(self, ids: Select[Any]) -> Select[Any]:
        """Return the statement of the rows whose ids the subquery ``ids`` selects."""
        return select(*self.columns).where(self.table.c.id.in_(ids))

    def by_ids(self, ids: Sequence[int]) -> list[Row[Any]]:
        """Return the rows with these ids, in that order; ids without a record are left out."""
        if not ids:
            return []
        rows = self.run("by ids", lambda: select(*self.columns).where(self.id_in_param()), ids=self.ids_value(ids))
        by_id = {row.id: row for row in rows}
        return [by_id[number] for number in ids if number in by_id]

    def ids_value(self, ids: Sequence[int]) -> Any:
        """Return the value of the bind parameter ``ids`` of ``id_in_param``."""
        return json.dumps(list(ids)) if self.is_sqlite else list(ids)

    def id_in_param(self) -> ColumnElement[bool]:
        """Return the condition that the id is in the bind parameter ``ids``, which is one parameter for any number."""
        if self.is_sqlite:
            each = func.json_each(bindparam("ids", type_=Text())).table_valued("value")
            return self.table.c.id.in_(select(each.c.value))
        return self.table.c.id == any_(bindparam("ids", type_=ARRAY(BigInteger())))

    def to_dicts(self, rows: Iterable[Row[Any]]) -> list[dict[str, Any]]:
        """Return rows as dictionaries of ``id``, the kind's fields and FURTHER."""
        names = self.names
        return [dict(zip(names, row, strict=False)) for row in rows]


def _shown_columns(kind: Kind, *, deleted: bool) -> tuple[list[str], list[Any]]:
    """Return the names and the columns of a row of the list."""

    def make() -> tuple[list[str], list[Any]]:
        names = [*sortable(kind), *(DELETION if deleted else ())]
        return names, [kind.model.__table__.c[name] for name in names]

    return cached_statement(("shown", kind.table, deleted), make)
