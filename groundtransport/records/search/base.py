"""The parts of a search that both databases share: walks along the sort's index, scans of the texts, the result.

A walk reads rows in list order from the index of the sort, and compares their texts until the window is full.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, func, select, true, union_all
from sqlalchemy.sql.util import ClauseAdapter

from groundtransport.indexes import hint_for
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import MISSING
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window, last_page_length
from groundtransport.records.search.predicates import text_conditions
from groundtransport.records.search.time_limit import OutOfTime

# Numbers of matches
EXACT_MAX = 10_000  # counted exactly up to here
MANY = 20_000  # estimated from here, not counted
FEW = 3_000  # sorted faster than a walk would take
RESCUE_ROWS = 100  # shown from anywhere in the table, once the time limit is reached
# Lengths of walks, in rows
WALK_MIN = 250
WALK_USUAL = 5_000  # at least, if a walk is expected to fill the window
WALK_MAX = 40_000  # at most, if the full-text index is an alternative
# Samples of the table, for estimates
SAMPLE_BLOCKS = 16
BLOCK_IDS = 1_000  # ids in a block
TEXT_BLOCK_IDS = 200  # the same, where texts are read


class Search:
    """A search by terms and filters; subclasses add the statements of their database's full-text index."""

    def __init__(self, reader: ListReader) -> None:
        self.reader, self.criteria = reader, reader.criteria
        self.dbsession, self.kind, self.table = reader.dbsession, reader.kind, reader.table
        self.total = 0
        self.truncated = False

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """All conditions on a row, but for the scope."""
        return [*self.reader.groups, *text_conditions(self.kind, self.criteria)]

    @property
    def is_indexed(self) -> bool:
        """True if the full-text index can be queried for any of the criteria."""
        return bool(self.criteria.terms or self.criteria.facet_tokens)

    def order_of(self, window: Window) -> Order:
        """Return the order in which to read a window's rows: reversed for the last page."""
        return self.reader.order.turned() if window.at_end else self.reader.order

    def find(self, window: Window) -> ListResult:
        """Return the rows of a window, and the number of matches."""
        raise NotImplementedError

    # Walks along the index of the sort

    def walk(self, window: Window, length: int) -> list[Row[Any]]:
        """Return the window's matches among the first ``length`` rows of the sort; raise OutOfTime without any."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        rows: list[Row[Any]] = []
        try:
            with self.reader.budget.limit():
                values = {"rows": length, "length": window.length, "offset": start}
                result = self.reader.run("walk", lambda: self._walk(order), order.shape, **values)
                while (row := result.fetchone()) is not None:
                    rows.append(row)
        except OutOfTime:
            if not rows:
                raise
            self.truncated = True
        return rows

    def _walk(self, order: Order, ranges: Sequence[ColumnElement[bool]] = ()) -> Select[Any]:
        """Return the statement of a walk along an order, or through index ranges of it in turn."""
        columns = [*self.reader.columns, self.table.c.search_text]
        most: Any = bindparam("rows")
        walked = select(*columns).where(*self.reader.scope).order_by(*order.clauses()).limit(most)
        walked = walked.with_hint(self.table, f"INDEXED BY {order.index}", "sqlite")
        parts = [walked.where(index_range).subquery() for index_range in ranges] or [walked.subquery()]
        rows = parts[0] if len(parts) == 1 else union_all(*map(select, parts)).limit(most).subquery()
        adapter = ClauseAdapter(rows)
        conditions = [adapter.traverse(condition) for condition in self.conditions]
        matching = select(*(rows.c[name] for name in self.reader.names)).where(*conditions)
        return matching.limit(bindparam("length")).offset(bindparam("offset"))

    def walk_from_anchor(self, window: Window, most: int) -> list[Row[Any]]:
        """Return the matches next to the window's anchor by a walk of ``most`` rows; [] unless they fill the window."""
        order = self.reader.order if window.after else self.reader.order.turned()
        values = {"anchor": window.after or window.before, "rows": most, "length": window.length, "offset": 0}
        with self.reader.budget.limit():
            anchor = self.reader.run("key", lambda: self._key(order), order.name, **values).one_or_none()
            if anchor is None:
                return []
            key = None if anchor.key is None else bindparam("key", type_=order.key.type)
            make = partial(self._walk, order, order.beyond(key, bindparam("anchor")))
            rows = self.reader.run("beside", make, order.shape, key is None, **values, key=anchor.key).all()
        if len(rows) < window.length:
            return []
        return list(rows if window.after else rows[::-1])

    def _key(self, order: Order) -> Select[Any]:
        return select(order.key.label("key")).where(self.table.c.id == bindparam("anchor"))

    def walk_until_full(self, window: Window, length: int, most: int) -> list[Row[Any]]:
        """Return matches by walks from ``length`` to ``most`` rows, until one fills the window or the time is over.

        They grow because a statement that PostgreSQL stops returns no rows: those of the walk before are the result.
        """
        rows: list[Row[Any]] = []
        try:
            while True:
                rows = max(rows, self.walk(window, length), key=len)
                if len(rows) >= window.length or length >= min(most, self.total) or self.truncated:
                    break
                length = min(8 * length, most)
        except OutOfTime:
            self.truncated = True
        return rows

    def walk_cost(self, window: Window, number: int) -> int:
        """Return the number of rows that a walk reads if ``number`` matches are spread evenly."""
        start = 0 if window.at_end or window.has_anchor else window.start
        return (start + window.length) * self.total // max(number, 1)

    def fetch_many(self, window: Window, number: int) -> list[Row[Any]]:
        """Return the rows of many matches: by a walk, else by the full-text index, else the incomplete walk's."""
        cost = self.walk_cost(window, number)
        rows: list[Row[Any]] = []
        if window.has_anchor:
            try:
                rows = self.walk_from_anchor(window, min(WALK_MAX, max(WALK_USUAL, 4 * cost)))
            except OutOfTime:
                self.truncated = True
            if rows:
                return rows
            window = replace(window, after=None, before=None)
            cost = self.walk_cost(window, number)
        if cost <= WALK_MAX:  # the sort may correlate with the terms: walk further than the estimate
            most = min(WALK_MAX, max(WALK_USUAL, 4 * cost, number // 2))
            rows = self.walk_until_full(window, min(most, max(WALK_MIN, 4 * cost)), most)
        if len(rows) < window.length and not self.truncated:
            try:
                rows = self.fetch_sorted(window)
            except OutOfTime:
                self.truncated = True
        return rows or self.rescue_rows(window)

    def rescue_rows(self, window: Window) -> list[Row[Any]]:
        """Return some rows of a search that reached its time limit without any; [] for other searches.

        Short walks look for them, then, as the sort may correlate with the terms, a scan of the table in any order.
        """
        if not self.truncated:
            return []
        rows = self.rescue_walks(window)
        if not rows:
            with suppress(OutOfTime):
                _, rows = self.read_texts(window, RESCUE_ROWS)
        return rows

    def rescue_walks(self, window: Window) -> list[Row[Any]]:
        """Return the matches of short walks within the extended time limit."""
        self.reader.budget.extend()
        self.truncated = False  # set again by a walk that is stopped
        rows = self.walk_until_full(window, WALK_MIN, WALK_USUAL)
        self.truncated = True
        return rows

    def fetch_sorted(self, window: Window) -> list[Row[Any]]:
        """Return rows by the full-text index and a sort; raise OutOfTime at the time limit."""
        raise NotImplementedError

    def result(self, window: Window, rows: list[Row[Any]], filtered: int, *, is_estimate: bool) -> ListResult:
        """Return the result of ``rows``, read in ``order_of(window)``; an estimate is corrected by the rows."""
        if is_estimate and self.truncated:
            return self.uncounted_result(window, rows)
        if window.at_end:
            rows = rows[::-1]
            if not is_estimate:
                rows = rows[-last_page_length(filtered, window.length) :] if filtered else []
        elif is_estimate and rows:
            end = window.start + len(rows)
            if len(rows) < window.length and not self.truncated:
                filtered, is_estimate = end, False  # the last page
            filtered = max(filtered, end)
        dicts = self.reader.to_dicts(rows)
        return ListResult(dicts, self.total, filtered, is_estimate and filtered > 0, self.truncated)

    def uncounted_result(self, window: Window, rows: list[Row[Any]]) -> ListResult:
        """Return the result of a search that reached its time limit before counting: an estimate would mislead."""
        start = 0 if window.at_end else window.start
        has_next = len(rows) >= window.length and not window.at_end
        dicts = self.reader.to_dicts(rows[::-1] if window.at_end else rows)
        filtered = min(start + len(rows) + has_next, max(self.total, len(rows)))
        return ListResult(dicts, self.total, filtered, truncated=True, is_uncounted=True)

    # Scans of the search texts

    def read_texts(self, window: Window, most: int) -> tuple[int, list[Row[Any]]]:
        """Return the number of matches, at most ``most``, and a window of them, by a scan that stops at ``most``."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        with self.reader.budget.limit():
            values = {"most": most, "length": window.length, "offset": start}
            rows = self.reader.run("read", lambda: self._read(order), order.shape, **values).all()
            return rows[0].number, self.reader.by_ids([row.id for row in rows if row.id is not None])

    def _read(self, order: Order) -> Select[Any]:
        matches = self._matching_texts(self.table.c.id, order.key.label("key")).cte("found").prefix_with("MATERIALIZED")
        sorted_ = select(matches.c.id, matches.c.key).order_by(*order.sorting(matches.c.key, matches.c.id))
        page = sorted_.limit(bindparam("length")).offset(bindparam("offset")).subquery()
        # An outer join: the number is returned for an empty page, too.
        number = select(func.count().label("number")).select_from(matches).subquery()
        joined = number.outerjoin(page, true())
        return select(number.c.number, page.c.id).select_from(joined).order_by(*order.sorting(page.c.key, page.c.id))

    def _matching_texts(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """Return the statement of the first ``most`` matches, in any order."""
        missing = self.reader.query.filters.get(MISSING, "")
        matching = select(*columns).where(*self.reader.scope, *self.conditions).limit(bindparam("most"))
        return matching.with_hint(self.table, hint_for(self.table, missing) if missing else "NOT INDEXED", "sqlite")
