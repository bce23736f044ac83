"""What the searches of both databases share: walks along a sort, what is read of the texts, the answer."""

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
from groundtransport.records.search.predicates import texts
from groundtransport.records.search.time_limit import OutOfTime

EXACT = 10_000  # matches are counted exactly up to here
MANY = 20_000  # matches that are guessed: so many are not counted
FEW = 3_000  # matches that are sorted sooner than a walk could begin
SHORT = 250  # rows: the shortest walk,
WALK = 5_000  # rows: a walk along the index of a sort is at least so long,
WALK_MAX = 40_000  # and at most so long where there is another way
SOME = 100  # matches, where time is over
SAMPLES = 16  # pieces of the table in which matches are counted, to guess how many there are in all,
SAMPLE = 1_000  # with so many ids each,
SURE = 200  # or so many where texts are read


class Search:
    """One search. A subclass knows what its database can do."""

    def __init__(self, reader: ListReader) -> None:
        self.reader, self.wanted = reader, reader.wanted
        self.dbsession, self.kind, self.table = reader.dbsession, reader.kind, reader.table
        self.total = 0
        self.truncated = False

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """The whole truth about a row."""
        return [*self.reader.groups, *texts(self.kind, self.wanted)]

    @property
    def is_indexed(self) -> bool:
        return bool(self.wanted.terms or self.wanted.marks)

    def order_of(self, window: Window) -> Order:
        """Return the order in which a window's rows are read: from the end for the last ones."""
        return self.reader.order.turned() if window.at_end else self.reader.order

    def find(self, window: Window) -> ListResult:
        raise NotImplementedError

    # A walk along the index of the sort

    def walk(self, window: Window, length: int) -> list[Row[Any]]:
        """Return matches among the first ``length`` rows of the sort, in the direction of the window."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        seen: list[Row[Any]] = []
        try:
            with self.reader.budget.limit():
                values = {"rows": length, "length": window.length, "offset": start}
                found = self.reader.run("walk", lambda: self._walk(order), order.shape, **values)
                while (row := found.fetchone()) is not None:
                    seen.append(row)
        except OutOfTime:
            if not seen:
                raise
            self.truncated = True
        return seen

    def _walk(self, order: Order, ranges: Sequence[ColumnElement[bool]] = ()) -> Select[Any]:
        """Walk along an order, or through ranges of it, one after the other."""
        columns = [*self.reader.columns, self.table.c.search_text]
        most: Any = bindparam("rows")
        found = select(*columns).where(*self.reader.scope).order_by(*order.clauses()).limit(most)
        found = found.with_hint(self.table, f"INDEXED BY {order.index}", "sqlite")
        parts = [found.where(one).subquery() for one in ranges] or [found.subquery()]
        rows = parts[0] if len(parts) == 1 else union_all(*map(select, parts)).limit(most).subquery()
        adapter = ClauseAdapter(rows)
        conditions = [adapter.traverse(condition) for condition in self.conditions]
        matching = select(*(rows.c[name] for name in self.reader.names)).where(*conditions)
        return matching.limit(bindparam("length")).offset(bindparam("offset"))

    def beside(self, window: Window, most: int) -> list[Row[Any]]:
        """Return the matches beside the record that a window names, by a walk from there; none unless they fill it."""
        order = self.reader.order if window.after else self.reader.order.turned()
        values = {"known": window.after or window.before, "rows": most, "length": window.length, "offset": 0}
        with self.reader.budget.limit():
            found = self.reader.run("key", lambda: self._key(order), order.name, **values).one_or_none()
            if found is None:
                return []
            key = None if found.key is None else bindparam("key", type_=order.key.type)
            make = partial(self._walk, order, order.beyond(key, bindparam("known")))
            rows = self.reader.run("beside", make, order.shape, key is None, **values, key=found.key).all()
        if len(rows) < window.length:
            return []
        return list(rows if window.after else rows[::-1])

    def _key(self, order: Order) -> Select[Any]:
        return select(order.key.label("key")).where(self.table.c.id == bindparam("known"))

    def scan(self, window: Window, length: int, most: int) -> list[Row[Any]]:
        """Return matches by walks that grow until the window is full, one is as long as ``most``, or the time is over.

        A statement that PostgreSQL stops gives no rows at all: those of the walk before are kept.
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
        """Return how many rows a walk will see, as far as matches are spread evenly."""
        start = 0 if window.at_end or window.has_anchor else window.start
        return (start + window.length) * self.total // max(number, 1)

    def of_many(self, window: Window, number: int) -> list[Row[Any]]:
        """Return rows where much matches: by a walk, else by the index after all, else what the walk found."""
        cost = self.walk_cost(window, number)
        rows: list[Row[Any]] = []
        if window.has_anchor:
            try:
                rows = self.beside(window, min(WALK_MAX, max(WALK, 4 * cost)))
            except OutOfTime:
                self.truncated = True
            if rows:
                return rows
            window = replace(window, after=None, before=None)
            cost = self.walk_cost(window, number)
        if cost <= WALK_MAX:  # what is sorted by may have to do with what is sought: look further than it says
            most = min(WALK_MAX, max(WALK, 4 * cost, number // 2))
            rows = self.scan(window, min(most, max(SHORT, 4 * cost)), most)
        if len(rows) < window.length and not self.truncated:
            try:
                rows = self.sorted(window)
            except OutOfTime:
                self.truncated = True
        return rows or self.last_resort(window)

    def last_resort(self, window: Window) -> list[Row[Any]]:
        """Return what short walks find, where the time was over before anything was found.

        If that is nothing, as what is sorted by has to do with what is sought, return some matches from anywhere, in
        the order of the list.
        """
        if not self.truncated:
            return []
        rows = self.last_walks(window)
        if not rows:
            with suppress(OutOfTime):
                _, rows = self.read(window, SOME)
        return rows

    def last_walks(self, window: Window) -> list[Row[Any]]:
        """Return what short walks find in a last short while."""
        self.reader.budget.extend()
        self.truncated = False  # a walk that is stopped says so again
        rows = self.scan(window, SHORT, WALK)
        self.truncated = True
        return rows

    def sorted(self, window: Window) -> list[Row[Any]]:
        """Return rows by the index of searches and a sort; raise OutOfTime."""
        raise NotImplementedError

    def answer(self, window: Window, rows: list[Row[Any]], filtered: int, *, is_estimate: bool) -> ListResult:
        if is_estimate and self.truncated:
            return self.uncounted(window, rows)
        if window.at_end:
            rows = rows[::-1]
            if not is_estimate:
                rows = rows[-last_page_length(filtered, window.length) :] if filtered else []
        elif is_estimate and rows:
            seen = window.start + len(rows)
            if len(rows) < window.length and not self.truncated:
                filtered, is_estimate = seen, False  # this is the end
            filtered = max(filtered, seen)
        shaped = self.reader.to_dicts(rows)
        return ListResult(shaped, self.total, filtered, is_estimate and filtered > 0, self.truncated)

    def uncounted(self, window: Window, rows: list[Row[Any]]) -> ListResult:
        """Return rows of a search whose time was over before the matches were counted: a guess would mislead."""
        start = 0 if window.at_end else window.start
        goes_on = len(rows) >= window.length and not window.at_end
        shaped = self.reader.to_dicts(rows[::-1] if window.at_end else rows)
        filtered = min(start + len(rows) + goes_on, max(self.total, len(rows)))
        return ListResult(shaped, self.total, filtered, truncated=True, is_uncounted=True)

    # What is looked for in the texts themselves

    def read(self, window: Window, most: int) -> tuple[int, list[Row[Any]]]:
        """Return the number of matches, and the rows of a window of them, by reading texts until there are ``most``."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        with self.reader.budget.limit():
            values = {"most": most, "length": window.length, "offset": start}
            pairs = self.reader.run("read", lambda: self._read(order), order.shape, **values).all()
            return pairs[0].number, self.reader.by_ids([pair.id for pair in pairs if pair.id is not None])

    def _read(self, order: Order) -> Select[Any]:
        found = self._reading(self.table.c.id, order.key.label("key")).cte("found").prefix_with("MATERIALIZED")
        sorted_ = select(found.c.id, found.c.key).order_by(*order.sorting(found.c.key, found.c.id))
        page = sorted_.limit(bindparam("length")).offset(bindparam("offset")).subquery()
        # The number comes even where the page is empty.
        number = select(func.count().label("number")).select_from(found).subquery()
        joined = number.outerjoin(page, true())
        return select(number.c.number, page.c.id).select_from(joined).order_by(*order.sorting(page.c.key, page.c.id))

    def _reading(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """Select of ``most`` matches, in whatever order."""
        gap = self.reader.query.filters.get(MISSING, "")
        some = select(*columns).where(*self.reader.scope, *self.conditions).limit(bindparam("most"))
        return some.with_hint(self.table, hint_for(self.table, gap) if gap else "NOT INDEXED", "sqlite")
