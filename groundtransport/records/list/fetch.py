"""The rows of one page, by the way that suits what was asked. Reads columns, never entities."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Result,
    Row,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    func,
    literal_column,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from groundtransport.db.statement_cache import cached_statement
from groundtransport.indexes import spec_of
from groundtransport.indexes.counter_tables import ALL, DELETED
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import DELETION, ListQuery, sortable
from groundtransport.records.search.predicates import group_conditions
from groundtransport.records.search.terms import Wanted, wanted
from groundtransport.records.search.time_limit import Budget
from groundtransport.settings import PAGE_SIZES

# Rows: from there on, a page is reached from its neighbor, and its rows are fetched by their ids.
DEEP = 1_000


@dataclass(frozen=True)
class Window:
    """Which rows of the list: ``length`` from ``start`` on, or its last ones.

    ``after`` or ``before`` is the id of the record that stands just before or after them, where that is known.
    """

    start: int
    length: int
    at_end: bool = False
    after: int | None = None
    before: int | None = None

    @property
    def is_near(self) -> bool:
        """Whether its rows are reached by counting from the start of the list."""
        return self.start + self.length <= DEEP and not self.at_end

    @property
    def is_first(self) -> bool:
        """Whether it is the first page of a usual size, as most are."""
        return self.start == 0 and self.length in PAGE_SIZES and not self.at_end


@dataclass
class ListResult:
    """The rows of a window, in the list's order, and how many there are: of the kind, and of the query.

    ``is_uncounted`` tells that the time was over before the matches were counted: ``filtered`` says no more than
    whether there may be a next page.
    """

    rows: list[dict[str, Any]]
    total: int
    filtered: int
    is_estimate: bool = False
    truncated: bool = False
    is_uncounted: bool = False


class Finder:
    """Finds rows of one query."""

    def __init__(self, dbsession: Session, kind: Kind, query: ListQuery) -> None:
        self.dbsession, self.kind, self.query = dbsession, kind, query
        self.table: Table = kind.model.__table__
        self.order = Order.of(kind, query)
        self.names, self.columns = _shown(kind, deleted=query.deleted)
        self.budget = Budget(dbsession)
        self.wanted = wanted(kind, query) if query.is_filtered else Wanted()

    @cached_property
    def scope(self) -> list[ColumnElement[bool]]:
        """What the rows of the query must fulfil at all: live, or deleted."""
        if "deleted_at" not in self.table.c:
            return []
        deleted = self.table.c.deleted_at
        return [deleted.is_not(None) if self.query.deleted else deleted.is_(None)]

    @cached_property
    def groups(self) -> list[ColumnElement[bool]]:
        """The conditions by exact value."""
        return group_conditions(self.kind, self.wanted)

    @cached_property
    def is_sqlite(self) -> bool:
        return self.dbsession.get_bind().dialect.name == "sqlite"

    def run(
        self, name: str, make: Callable[[], Select[Any]], *shape: Hashable, **values: Any
    ) -> Result[*tuple[Any, ...]]:
        """Execute a statement of this query, which ``make`` makes where none of its shape was made before."""
        wanted = self.wanted
        known = (name, self.table, self.is_sqlite, self.query.deleted, wanted.shape, tuple(wanted.groups), *shape)
        return self.dbsession.execute(cached_statement(known, make), {**wanted.values, **values})

    def find(self, window: Window) -> ListResult:
        """Return the rows of a window; past the end, none."""
        from groundtransport.records.search import search, search_deleted

        if self.wanted.is_impossible:
            return ListResult([], self.total(), 0)
        if self.wanted.is_everything:
            return self.counted(window, self.order, DELETED if self.query.deleted else ALL, ALL)
        if self.wanted.is_counted(self.counted_by) and not self.query.deleted:
            return self.grouped(window)
        try:
            return search_deleted(self, window) if self.query.deleted else search(self, window)
        finally:
            self.budget.close()

    def total(self) -> int:
        return counters.total(self.dbsession, self.kind, deleted=self.query.deleted)

    @property
    def counted_by(self) -> str | None:
        facts = spec_of(self.table)
        return facts.counted_by if facts else None

    # Lists without a search

    def grouped(self, window: Window) -> ListResult:
        """Find records of an airport, of a status, or of both: their number is known."""
        code = self.wanted.groups.get("airport_code", ALL)
        choice = self.wanted.groups.get(self.counted_by or "", ALL)
        if self.order.is_by_id or self.order.name in self.wanted.groups:
            # All have the same key there: the index gives them by id.
            return self.counted(window, Order(self.kind, "id", self.order.descending), code, choice)
        from groundtransport.records.search import GroupSearch

        total, filtered = counters.both(self.dbsession, self.kind, code, choice)
        try:
            return GroupSearch(self, total, filtered).find(window)
        finally:
            self.budget.close()

    def counted(self, window: Window, order: Order, code: str, choice: str) -> ListResult:
        """Find records of a list whose length the counters know; near its start, length and rows in one statement."""
        if window.is_near:
            values = {"code": code, "choice": choice, "length": window.length, "offset": window.start}
            first = window.length if window.is_first else None
            make = partial(self._near, order, code, choice, first)
            rows = self.run("near", make, order.shape, code == ALL, choice == ALL, first, **values).all()
            if rows:
                numbers = rows[0][len(self.names) :]
                return ListResult(self.shaped(rows), int(numbers[0]), int(numbers[-1]))
        total, filtered = counters.both(self.dbsession, self.kind, code, choice)
        return ListResult(self.listed(window, filtered, order), total, filtered)

    def _near(self, order: Order, code: str, choice: str, first: int | None) -> Select[Any]:
        return self._first(order, first).add_columns(*counters.numbers(self.kind, code, choice))

    def listed(self, window: Window, number: int, order: Order) -> list[dict[str, Any]]:
        """Return rows out of ``number``, along the index of an order: from its nearer end, or from a known record."""
        start = number - on_last_page(number, window.length) if window.at_end else window.start
        length = min(window.length, number - start)
        if length <= 0:
            return []
        known = window.after or window.before
        if known and not window.is_near and not window.at_end:
            rows = self._beside(order if window.after else order.turned(), known, length)
            if len(rows) == length:
                return self.shaped(rows if window.after else rows[::-1])
        from_end = number - start - length
        if from_end < start:
            return self.shaped(self._from(order.turned(), from_end, length)[::-1])
        return self.shaped(self._from(order, start, length))

    def _from(self, order: Order, offset: int, length: int) -> list[Row[Any]]:
        """Return rows from an offset on; far away, first their ids from the index alone, then the rows."""
        if offset <= DEEP:
            return list(self.run("first", lambda: self._first(order), order.shape, length=length, offset=offset))
        if order.is_by_id and not self.groups and not self.query.deleted:
            edge = counters.edge(self.dbsession, self.kind, offset, descending=order.descending)
            if edge:
                return self._at(order, edge[0], edge[1], length)
        ids = self.run("far", lambda: self._far(order), order.shape, length=length, offset=offset)
        return self.by_ids(ids.scalars().all())

    def _first(self, order: Order, first: int | None = None) -> Select[Any]:
        """Return the statement of ``length`` rows from ``offset`` on, which are values; or of the ``first`` so many.

        That number stands in the statement: PostgreSQL plans one whose length is a value anew each time, as the plan
        for any length looks dear.
        """
        found = select(*self.columns).where(*self.scope, *self.groups).order_by(*order.clauses())
        if first:
            return found.limit(literal_column(str(first)))
        return found.limit(bindparam("length")).offset(bindparam("offset"))

    def _far(self, order: Order) -> Select[Any]:
        found = select(self.table.c.id).where(*self.scope, *self.groups).order_by(*order.clauses())
        return found.limit(bindparam("length")).offset(bindparam("offset"))

    def _at(self, order: Order, edge: int, offset: int, length: int) -> list[Row[Any]]:
        """Return rows by id, at an offset from an id."""
        descending = order.descending

        def make() -> Select[Any]:
            ids = select(self.table.c.id).where(*self.scope, *order.beyond(None, bindparam("edge"), itself=True))
            ids = ids.order_by(*order.clauses()).limit(bindparam("length")).offset(bindparam("offset"))
            return self.picked(ids)

        rows = self.run("at", make, descending, edge=edge, length=length, offset=offset)
        return sorted(rows, key=lambda row: row.id, reverse=descending)

    def picked(self, ids: Select[Any]) -> Select[Any]:
        """Return the statement of the rows whose ids another one picks."""
        return select(*self.columns).where(self.table.c.id.in_(ids))

    def by_ids(self, ids: Sequence[int]) -> list[Row[Any]]:
        """Return rows in the order of their ids' list."""
        if not ids:
            return []
        rows = self.run("by ids", self._by_ids, ids=self.given(ids))
        found = {row.id: row for row in rows}
        return [found[number] for number in ids if number in found]

    def _by_ids(self) -> Select[Any]:
        return select(*self.columns).where(self.is_given())

    def given(self, ids: Sequence[int]) -> Any:
        """Return the value ``ids`` of ``is_given``."""
        return json.dumps(list(ids)) if self.is_sqlite else list(ids)

    def is_given(self) -> ColumnElement[bool]:
        """Return the condition that a record is one of the value ``ids``: one parameter, however many they are."""
        if self.is_sqlite:
            given = func.json_each(bindparam("ids", type_=Text())).table_valued("value")
            return self.table.c.id.in_(select(given.c.value))
        return self.table.c.id == any_(bindparam("ids", type_=ARRAY(BigInteger())))

    def _beside(self, order: Order, known: int, length: int) -> list[Row[Any]]:
        """Return the rows that follow a record: one that was deleted meanwhile still says where it stood."""
        key = None
        if not order.is_by_id:
            found = self.dbsession.execute(select(order.key).where(self.table.c.id == known)).one_or_none()
            if found is None:
                return []
            key = found[0]
        parts = [
            select(*self.columns).where(*self.scope, *self.groups, beyond).order_by(*order.clauses()).limit(length)
            for beyond in order.beyond(key, known)
        ]
        if len(parts) == 1:
            return list(self.dbsession.execute(parts[0], dict(self.wanted.values)))
        following = union_all(*(select(part.subquery()) for part in parts)).limit(length)
        return list(self.dbsession.execute(following, dict(self.wanted.values)))

    def shaped(self, rows: Iterable[Row[Any]]) -> list[dict[str, Any]]:
        """Return rows as plain values: ``id``, the kind's fields, and FURTHER."""
        names = self.names
        return [dict(zip(names, row, strict=False)) for row in rows]


def cut(ids: Sequence[int], window: Window) -> Sequence[int]:
    """Return the ids of a window out of those of the whole list."""
    start = len(ids) - on_last_page(len(ids), window.length) if window.at_end else window.start
    return ids[max(0, start) :][: window.length]


def on_last_page(number: int, length: int) -> int:
    """Return how many rows the last page has."""
    return number % length or min(length, number)


def _shown(kind: Kind, *, deleted: bool) -> tuple[list[str], list[Any]]:
    """Return the names and the columns of a row."""

    def make() -> tuple[list[str], list[Any]]:
        names = [*sortable(kind), *(DELETION if deleted else ())]
        return names, [kind.model.__table__.c[name] for name in names]

    return cached_statement(("shown", kind.table, deleted), make)
