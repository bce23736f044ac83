"""Search records by their search texts: few matches by an index and a sort, many along the index of the sort.

The full-text index tells how many records it gives. If these are few, they are all read and sorted, and their number
is exact. If they are many and the index decides alone, their number is an estimate. If the texts decide, as for a
filter of one field, or if no term is long enough for the index, all texts are compared, up to EXACT_MAX matches. A page
of many matches is read along the index of the sort, or from all matches where these are fewer rows. A search that
reaches its time limit shows the matches among the first rows of the list.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial

from sqlalchemy import ColumnElement, FromClause, bindparam, func, select, true
from sqlalchemy.sql import visitors
from sqlalchemy.sql.util import ClauseAdapter

from groundtransport.db import AnyRow, AnySelect
from groundtransport.indexes import hint_for
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import MISSING
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import EXACT_MAX, ListResult, Window, last_page_length
from groundtransport.records.model import OTHER_PLACE, other_place_index
from groundtransport.records.search.postgresql import TrigramIndex
from groundtransport.records.search.predicates import text_conditions
from groundtransport.records.search.sqlite import FTS5Index
from groundtransport.records.search.time_limit import OutOfTime

WALK_MAX = 40_000  # rows read along the index of a sort, at most
LAST_WALK = 5_000  # the same, once the time limit is reached
FEW_SHARE = 30  # where texts decide, one record in so many is few enough to be read by the index

Matching = Callable[[Order], AnySelect]  # the statement of the columns ``id`` and ``key`` of all matches


class Search:
    """A search by terms and filters; ``total`` is the number of the kind's records."""

    def __init__(self, reader: ListReader, total: int) -> None:
        self.reader, self.table, self.total = reader, reader.table, total
        self.index = FTS5Index(reader) if reader.is_sqlite else TrigramIndex(reader)

    def find(self, window: Window) -> ListResult:
        """Return the rows of a window, and the number of matches, which is an estimate beyond EXACT_MAX."""
        try:
            return self._find(window)
        except OutOfTime:
            return self._stopped(window)

    def find_counted(self, window: Window, number: int) -> ListResult:
        """Return the rows of a window of ``number`` matches, which is known."""
        try:
            return self._result(window, self._page(window, number, self._in_texts), number)
        except OutOfTime:
            return self._stopped(window)

    def _find(self, window: Window) -> ListResult:
        is_exact = self.reader.criteria.is_exact
        with self.reader.budget.limit(usual=True):
            number = self.index.count() if self.index.is_usable and not self.reader.query.deleted else None
        if number is not None and number <= max(self.index.few, 0 if is_exact else self.total // FEW_SHARE):
            number, ids, _ = self._count(window, self.index.matching, usual=number <= self.index.few)
            return self._result(window, ids, number)
        if number is not None and is_exact:
            return self._result(window, self._page(window, number, self.index.matching), number, is_estimate=True)
        number, ids, lowest = self._count(window, self._first_in_texts)
        if number <= EXACT_MAX:
            return self._result(window, ids, number)
        number = min(self.reader.extrapolate(number, lowest), self.total)
        return self._result(window, self._page(window, number, self._in_texts), number, is_estimate=True)

    def _stopped(self, window: Window) -> ListResult:
        """Return what a short walk finds within the extended time limit. Nothing is known of the number of matches."""
        self.reader.budget.extend()
        ids: list[int] = []
        with suppress(OutOfTime):
            ids = self._walk(window, LAST_WALK)
        has_next = len(ids) >= window.length and not window.at_end
        filtered = min(window.offset + len(ids) + has_next, max(self.total, len(ids)))
        rows = self.reader.by_ids(ids[::-1] if window.at_end else ids)
        return ListResult(rows, self.total, filtered, truncated=True, is_uncounted=True)

    def _result(self, window: Window, ids: list[int], number: int, *, is_estimate: bool = False) -> ListResult:
        """Return the result of ``ids``, which were read from the end for the last page; they correct an estimate."""
        if window.at_end:
            ids = ids[::-1] if is_estimate else ids[: last_page_length(number, window.length)][::-1]
        elif is_estimate and ids:
            end = window.start + len(ids)
            is_estimate = len(ids) == window.length  # else this is the last page
            number = max(number, end) if is_estimate else end
        return ListResult(self.reader.by_ids(ids), self.total, number, is_estimate)

    def _order(self, window: Window) -> Order:
        return self.reader.order.turned() if window.at_end else self.reader.order

    def _run(
        self, name: str, make: Callable[[], AnySelect], window: Window, *shape: Hashable, usual: bool = False
    ) -> list[AnyRow]:
        """Execute a statement about a window; raise OutOfTime at the time limit, which is ``usual`` as in Budget."""
        shape = (*self._order(window).shape, self.index.is_by_trigram, *shape)
        values = {"length": window.length, "offset": window.offset, **self.index.values}
        with self.reader.budget.limit(usual=usual):
            return list(self.reader.run(name, make, *shape, **values).all())

    def _count(self, window: Window, matching: Matching, *, usual: bool = False) -> tuple[int, list[int], int]:
        """Return the number of matches, the ids of a window of them, and the lowest id of all."""
        make = partial(_with_number, matching, self._order(window))
        rows = self._run("count", make, window, matching.__name__, usual=usual)
        return rows[0].number, [row.id for row in rows if row.id is not None], rows[0].lowest or 0

    def _page(self, window: Window, number: int, matching: Matching) -> list[int]:
        """Return the ids of a window of many matches."""
        order = self._order(window)
        walked_rows = (window.offset + window.length) * self.total // max(number, 1)
        if walked_rows <= min(number, WALK_MAX):
            ids = self._walk(window, WALK_MAX)
            if len(ids) == window.length:
                return ids
        rows = self._run("page", lambda: _sorted(matching(order).subquery(), order), window, matching.__name__)
        return [row.id for row in rows]

    def _walk(self, window: Window, most: int) -> list[int]:
        """Return the ids of a window of the matches among the first ``most`` rows of the list."""
        make = partial(self._walked, self._order(window), most)
        return [row.id for row in self._run("walk", make, window, most)]

    def _walked(self, order: Order, most: int) -> AnySelect:
        conditions = self._conditions()
        used = {part for condition in conditions for part in visitors.iterate(condition)}
        columns = [column for column in self.table.c if column in used or column is self.table.c.id]
        index = f"INDEXED BY {order.index}" if not self.reader.query.deleted else self._hint
        rows = select(*columns).where(*self.reader.scope).order_by(*order.clauses()).limit(most)
        walked = rows.with_hint(self.table, index, "sqlite").subquery()
        adapter = ClauseAdapter(walked)
        matching = select(walked.c.id).where(*(adapter.traverse(condition) for condition in conditions))
        return matching.limit(bindparam("length")).offset(bindparam("offset"))

    def _conditions(self) -> list[ColumnElement[bool]]:
        return [*self.reader.groups, *text_conditions(self.reader.kind, self.reader.criteria)]

    def _in_texts(self, order: Order) -> AnySelect:
        """Return the statement of all matches by their texts and columns."""
        matching = select(self.table.c.id, order.key.label("key")).where(*self.reader.scope, *self._conditions())
        return matching.with_hint(self.table, self._hint, "sqlite")

    def _first_in_texts(self, order: Order) -> AnySelect:
        """Return the statement of the newest matches, one more than EXACT_MAX; of all that are deleted."""
        matching = self._in_texts(order)
        if self.reader.query.deleted:
            return matching
        return matching.order_by(self.table.c.id.desc()).limit(EXACT_MAX + 1)

    @property
    def _hint(self) -> str:
        """SQLite's hint of the index by which texts are read; all are read in a row without one."""
        query, table = self.reader.query, self.table
        if query.deleted:
            return f"INDEXED BY ix_{table.name}_deleted"
        if "airport_code" in query.filters:
            return f"INDEXED BY ix_{table.name}_by_airport_code"
        if OTHER_PLACE in query.filters:
            return f"INDEXED BY {other_place_index(table)}"
        return hint_for(table, query.filters.get(MISSING, "")) or "NOT INDEXED"


def _with_number(matching: Matching, order: Order) -> AnySelect:
    """Return the statement of a window of the matches, each with their number and lowest id."""
    matches = matching(order).cte("found").prefix_with("MATERIALIZED")
    page = _sorted(matches, order).add_columns(matches.c.key).subquery("page")
    number = select(func.count().label("number"), func.min(matches.c.id).label("lowest")).subquery("counted")
    joined = number.outerjoin(page, true())  # an outer join: the number is returned for an empty page, too
    rows = select(number.c.number, number.c.lowest, page.c.id).select_from(joined)
    return rows.order_by(*order.sorting(page.c.key, page.c.id))


def _sorted(matches: FromClause, order: Order) -> AnySelect:
    """Return the statement of the ids of a window of ``matches``, which has the columns ``id`` and ``key``."""
    ids = select(matches.c.id).order_by(*order.sorting(matches.c.key, matches.c.id))
    return ids.limit(bindparam("length")).offset(bindparam("offset"))
