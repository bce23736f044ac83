"""Searching with pg_trgm: few matches by its index, many by walks, as the planner guesses."""

from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by

from groundtransport.records.list.order import Order
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT
from groundtransport.records.search.estimates import GUESSED, EstimatingSearch
from groundtransport.records.search.predicates import named_holds, spellings, texts
from groundtransport.records.search.terms import airport_mark, telling, valued
from groundtransport.records.search.time_limit import ANEW, AS_USUAL, ONCE, OutOfTime
from groundtransport.text import MARK

LISTED = 4_000  # matches whose ids are remembered: of more, their number
RARE = 4  # of so many records one has a value for whose sake its index is read, too


class PostgreSQLSearch(EstimatingSearch):
    """A GIN index must find all rows that match before the first can be had: few are sorted, many are walked to."""

    number: int | None = None  # of matches, once the index was asked for all of them
    is_known = False  # that few match: the same was asked a moment ago

    def find(self, window: Window) -> ListResult:
        number = self.recall_number()
        if number is not None:
            return self.answer(window, self.of_many(window, number), number, is_estimate=False)
        recalled = result_cache.GUESSES.get(self.engine, self.key)  # the same search again, or its next page
        if recalled:
            self.is_known = True
            self.guessed, self.most = recalled
        else:
            self.look_around()
            if not (self.sieve or self.is_indexed):
                return self.find_short(window)
            if self.is_of_fields and self.guessed > GUESSED:
                self.guessed = self.sampled()
        if self.guessed > GUESSED and self.total > 2 * EXACT:
            rows = self.of_many(window, self.guessed)
            if self.number is None:
                return self.answer(window, rows, max(self.guessed, len(rows)), is_estimate=True)
            return self.answer(window, rows, self.number, is_estimate=False)
        try:
            rows = self.sorted(window)
        except OutOfTime:
            self.truncated = True
            if self.is_known:
                self.look_around()
            self.reader.budget.close()  # walks are planned with regard to their length
            rows = self.last_resort(window)
            return self.answer(window, rows, max(self.guessed, len(rows)), is_estimate=True)
        if not (self.is_known or self.sieve):
            result_cache.GUESSES.put(self.engine, self.key, (self.guessed, self.most))
        return self.answer(window, rows, self.number or 0, is_estimate=False)

    def recall_number(self) -> int | None:
        """Return how many match, if they were counted a moment ago and nothing has changed since."""
        known = result_cache.recall_number(self.reader)
        if known is None:
            return None
        state, number, _ = known
        self.total = self.most = state[1]
        return number if result_cache.state_now(self.reader) == state else None

    def sorted(self, window: Window) -> list[Row[Any]]:
        """Return rows of all matches, whose number is known then."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        mark, sieved = airport_mark(self.wanted), self.sieve.values if self.sieve else {}
        values = {"length": window.length, "offset": start, **self.mark_values, **sieved}
        pieces: tuple[tuple[int, ...], ...] = ()
        if mark or len(self.wanted.terms) > 1:
            pieces, more = self.pieces()
            values |= more
        with self.reader.budget.limit(plans=ANEW if self.sieve else ONCE if self.is_known else AS_USUAL):
            by_marks = bool(mark or self.wanted.terms) and (bool(mark) or RARE * self.most > self.total)
            shape = (order.shape, pieces, bool(self.wanted.terms), by_marks, tuple(sieved))
            make = partial(self._sorted, order, pieces, by_marks=by_marks)
            rows = self.reader.run("sorted", make, *shape, **values).all()
        state, ids = result_cache.state_of(rows[0]), rows[0].ids or []
        self.number, self.total = int(rows[0].number), state[1]
        if len(ids) == self.number:
            result_cache.remember(self.reader, state, ids[::-1] if window.at_end else ids)
        elif not self.sieve:
            result_cache.remember_number(self.reader, state, self.number, is_estimate=False)
        return [row for row in rows if row.id is not None]

    def pieces(self) -> tuple[tuple[tuple[int, ...], ...], dict[str, str]]:
        """Return how many pieces of each spelling of each term the index is asked for, and their values.

        The index reads the list of every piece that it is asked for: the most telling ones do.
        """
        shape: list[tuple[int, ...]] = []
        values: dict[str, str] = {}
        for number, term in enumerate(self.wanted.terms):
            each = [telling(spelling, 1) for spelling in term]
            shape.append(tuple(map(len, each)))
            for other, pieces in enumerate(each):
                for last, piece in enumerate(pieces):
                    values |= valued(f"piece_{number}_{other}_{last}", piece)
        return tuple(shape), values

    def _sorted(self, order: Order, pieces: tuple[tuple[int, ...], ...], *, by_marks: bool) -> Select[Any]:
        key = order.key.label("key")
        matching = select(self.table.c.id, key).where(*self.reader.scope, *self._sought(pieces, by_marks=by_marks))
        found = matching.cte("found").prefix_with("MATERIALIZED")
        sorted_ = select(found.c.id, found.c.key).order_by(*order.sorting(found.c.key, found.c.id))
        page = sorted_.limit(bindparam("length")).offset(bindparam("offset")).subquery("page")
        number = select(func.count().label("number")).select_from(found).subquery("counted")
        # The number comes even where the page is empty.
        joined = number.outerjoin(page, true()).outerjoin(self.table, self.table.c.id == page.c.id)
        facts: list[Any] = result_cache.state(self.kind)
        # The ids of all, to be remembered: in the first row alone.
        ids = select(func.array_agg(aggregate_order_by(found.c.id, *order.sorting(found.c.key, found.c.id))))
        first = sorted_.with_only_columns(found.c.id).limit(1).offset(bindparam("offset")).scalar_subquery()
        is_first = and_(number.c.number <= LISTED, page.c.id == first)
        facts.append(case((is_first, ids.scalar_subquery())).label("ids"))
        rows = select(*self.reader.columns, number.c.number, *facts).select_from(joined)
        return rows.order_by(*order.sorting(page.c.key, page.c.id))

    def _sought(self, pieces: tuple[tuple[int, ...], ...], *, by_marks: bool) -> list[ColumnElement[bool]]:
        """The whole truth about a row, in the form that the index knows which is to be asked."""
        if self.sieve:
            passing = self.sieve.conditions(self.table.c.search_text)
            return [*passing, *self._marked(indexed=False), *texts(self.kind, self.wanted)]
        groups, is_indexed = self._marked() if by_marks else self.reader.groups, bool(self.wanted.terms)
        if pieces:
            return [*groups, *self._asked(pieces), *texts(self.kind, self.wanted)]
        known = spellings(self.kind, self.wanted) if is_indexed else []
        return [*groups, *texts(self.kind, self.wanted, indexed=is_indexed), *known]

    def _marked(self, *, indexed: bool = True) -> list[ColumnElement[bool]]:
        """The conditions by exact value, by marks in the texts: the planner takes any value of a column for rare."""
        mark = airport_mark(self.wanted)
        return [
            named_holds(self.kind, f"mark_{number}", indexed=indexed and each == mark)
            for number, each in enumerate(self.wanted.marks)
        ]

    @property
    def mark_values(self) -> dict[str, str]:
        """What fills the conditions by marks: their ends, which are their own; many words begin as airports do."""
        values: dict[str, str] = {}
        for number, each in enumerate(self.wanted.marks):
            values |= valued(f"mark_{number}", each.removeprefix(MARK))
        return values

    def _asked(self, pieces: tuple[tuple[int, ...], ...]) -> list[ColumnElement[bool]]:
        return [
            or_(
                *(
                    and_(
                        *(
                            named_holds(self.kind, f"piece_{number}_{other}_{last}", indexed=True)
                            for last in range(count)
                        )
                    )
                    for other, count in enumerate(counts)
                )
            )
            for number, counts in enumerate(pieces)
        ]
