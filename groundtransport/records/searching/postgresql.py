"""Searching with pg_trgm, where the planner guesses how much matches."""

from collections.abc import Hashable
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Engine,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    tablesample,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, array
from sqlalchemy.sql.util import ClauseAdapter

from groundtransport.indexes.tables import ALL
from groundtransport.records import counters
from groundtransport.records.budget import ANEW, AS_USUAL, LIMITING, ONCE, OutOfTime, planning_once
from groundtransport.records.conditions import named_holds, spellings, texts
from groundtransport.records.finding import Found, Window
from groundtransport.records.order import Order
from groundtransport.records.search import airport_mark, like, telling, valued
from groundtransport.records.searching import memory
from groundtransport.records.searching.base import EXACT, FEW, SAMPLE, SAMPLES, WALK_MAX, Search
from groundtransport.records.searching.sieve import Sieve, any_is_of_trigrams
from groundtransport.text import MARK

GUESSED = 3 * EXACT // 2  # matches: few, as far as one can guess
RARE = 4  # of so many records one has a value for whose sake its index is read, too


class PostgreSQLSearch(Search):
    """The planner guesses well how many rows match; a GIN index must find them all before the first can be had."""

    number: int | None = None  # of matches, once the index was asked for all of them
    is_known = False  # that few match: the same was asked a moment ago
    sieve: Sieve | None = None  # what is asked in place of trigrams

    def find(self, window: Window) -> Found:
        number = self.recall_number()
        if number is not None:
            return self.answer(window, self.of_many(window, number), number, is_estimate=False)
        recalled = memory.GUESSES.get(self.engine, self.key)  # the same search again, or its next page
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
            self.finder.budget.close()  # walks are planned with regard to their length
            rows = self.last_resort(window)
            return self.answer(window, rows, max(self.guessed, len(rows)), is_estimate=True)
        if not (self.is_known or self.sieve):
            memory.GUESSES.put(self.engine, self.key, (self.guessed, self.most))
        return self.answer(window, rows, self.number or 0, is_estimate=False)

    def recall_number(self) -> int | None:
        """Return how many match, if they were counted a moment ago and nothing has changed since."""
        known = memory.recall_number(self.finder)
        if known is None:
            return None
        state, number, _ = known
        self.total = self.most = state[1]
        return number if memory.state_now(self.finder) == state else None

    @property
    def is_indexed(self) -> bool:
        """Whether there is something to ask trigrams for."""
        return bool(self.wanted.marks) or any_is_of_trigrams(self.wanted.terms)

    @property
    def is_of_fields(self) -> bool:
        """Whether a field must hold or lack something: the planner guesses of the whole texts."""
        return any(how in ("filter", "phone", "lacks") for how, _, _ in self.wanted.shape)

    @property
    def engine(self) -> Engine:
        return self.dbsession.connection().engine

    @property
    def key(self) -> Hashable:
        """What a guess is about."""
        return self.kind.name, *self.counted, *self.wanted.pieces

    def look_around(self) -> None:
        """Find out how many live records there are, the planner's guess of how many match, and how many can at most.

        The sieve is used where it lets few records pass, and fewer than trigrams would. The planner would not know: for
        a partial index, it looks at no statistics of an expression.
        """
        sieve, (code, choice) = Sieve(self.wanted), self.counted
        sought = {"patterns": self.wanted.pieces, "sure": sieve.sure, "others": sieve.others}
        values: dict[str, Any] = {name: list(map(like, texts)) for name, texts in sought.items()}
        values |= {"limit": self.finder.budget.told(), "code": code, "choice": choice, "few": FEW}
        make = partial(self._facts, with_sieve=bool(sieve.sure))
        found = self.finder.run("facts", make, bool(sieve.sure), self.is_indexed, **values).one()
        self.total, self.most, self.guessed = map(int, found[:3])
        if sieve.sure and found.passing <= min(WALK_MAX, found.others // 2):
            self.sieve = sieve

    @property
    def counted(self) -> tuple[str, str]:
        """The airport and the choice that are asked for, as the counters name them."""
        groups = self.wanted.groups
        return groups.get("airport_code", ALL), groups.get(self.finder.counted_by or "", ALL)

    def _facts(self, *, with_sieve: bool) -> Select[Any]:
        name, live = self.kind.table, "deleted_at" if "deleted_at" in self.table.c else ""
        most = select(counters.kept(name, *counters.named(*self.counted)).label("most")).subquery().c.most

        def guess(texts: str) -> Any:
            return func.record_estimate(name, live, bindparam(texts, type_=ARRAY(Text())))

        def least(texts: str) -> Any:  # of several, too: the planner takes them for independent of each other
            each = func.unnest(bindparam(texts, type_=ARRAY(Text()))).column_valued("each")
            return select(func.min(func.record_estimate(name, live, array([each])))).scalar_subquery()

        # Of an airport with few records, few match: that spares the dearest parts of the question.
        patterns = case((most <= GUESSED, most), else_=guess("patterns")).label("patterns")
        passing = case((most <= bindparam("few"), most), else_=least("sure")).label("passing")
        others = case((most <= GUESSED, most), else_=guess("others")).label("others")
        of = select(most, patterns, *((passing, others) if with_sieve else ())).subquery()
        plans = [planning_once(of.c.patterns <= GUESSED)] if self.is_indexed else []
        return select(counters.kept(name), *of.c, LIMITING, *plans)

    def sorted(self, window: Window) -> list[Row[Any]]:
        """Return rows of all matches, whose number is known then."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        mark, sieved = airport_mark(self.wanted), self.sieve.values if self.sieve else {}
        values = {"length": window.length, "offset": start, **self.mark_values, **sieved}
        pieces: tuple[tuple[int, ...], ...] = ()
        if mark or len(self.wanted.terms) > 1:
            pieces, more = self.pieces()
            values |= more
        with self.finder.budget.limit(plans=ANEW if self.sieve else ONCE if self.is_known else AS_USUAL):
            by_marks = bool(mark or self.wanted.terms) and (bool(mark) or RARE * self.most > self.total)
            shape = (order.shape, pieces, bool(self.wanted.terms), by_marks, tuple(sieved))
            make = partial(self._sorted, order, pieces, by_marks=by_marks)
            rows = self.finder.run("sorted", make, *shape, **values).all()
        state, ids = memory.state_of(rows[0]), rows[0].ids or []
        self.number, self.total = int(rows[0].number), state[1]
        if len(ids) == self.number:
            memory.remember(self.finder, state, ids[::-1] if window.at_end else ids)
        elif not self.sieve:
            memory.remember_number(self.finder, state, self.number, is_estimate=False)
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
        matching = select(self.table.c.id, key).where(*self.finder.scope, *self._sought(pieces, by_marks=by_marks))
        found = matching.cte("found").prefix_with("MATERIALIZED")
        sorted_ = select(found.c.id, found.c.key).order_by(*order.sorting(found.c.key, found.c.id))
        page = sorted_.limit(bindparam("length")).offset(bindparam("offset")).subquery("page")
        number = select(func.count().label("number")).select_from(found).subquery("counted")
        # The number comes even where the page is empty.
        joined = number.outerjoin(page, true()).outerjoin(self.table, self.table.c.id == page.c.id)
        facts: list[Any] = memory.state(self.kind)
        # The ids of all, to be remembered: in the first row alone.
        ids = select(func.array_agg(aggregate_order_by(found.c.id, *order.sorting(found.c.key, found.c.id))))
        first = sorted_.with_only_columns(found.c.id).limit(1).offset(bindparam("offset")).scalar_subquery()
        is_first = and_(number.c.number <= memory.MOST, page.c.id == first)
        facts.append(case((is_first, ids.scalar_subquery())).label("ids"))
        rows = select(*self.finder.columns, number.c.number, *facts).select_from(joined)
        return rows.order_by(*order.sorting(page.c.key, page.c.id))

    def _sought(self, pieces: tuple[tuple[int, ...], ...], *, by_marks: bool) -> list[ColumnElement[bool]]:
        """The whole truth about a row, in the form that the index knows which is to be asked."""
        if self.sieve:
            passing = self.sieve.conditions(self.table.c.search_text)
            return [*passing, *self._marked(indexed=False), *texts(self.kind, self.wanted)]
        groups, is_indexed = self._marked() if by_marks else self.finder.groups, bool(self.wanted.terms)
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

    def guess_short(self) -> int:
        """Return the planner's guess; where it knows nothing of what is missing, what a sample says."""
        return self.sampled() if self.is_of_missing else self.guessed

    def guess_again(self, guess: int) -> int:
        """Return what a sample says: the planner takes words for independent of each other."""
        return max(guess, self.sampled())

    def sampled(self) -> int:
        """Return how many match, by their share in a sample of the table; without time left, the planner's guess."""
        percent = min(100.0, 100.0 * SAMPLES * SAMPLE / max(self.total, 1))
        try:
            with self.finder.budget.limit():
                counts = self.finder.run("sample", self._sample, percent=percent).one()
        except OutOfTime:
            return self.guessed
        return int(counts[0]) * self.total // max(counts[1], 1)

    def _sample(self) -> Select[Any]:
        sample = tablesample(self.table, func.system(bindparam("percent")))
        adapter = ClauseAdapter(sample)
        conditions = [adapter.traverse(condition) for condition in (*self.finder.scope, *self.conditions)]
        live = [adapter.traverse(condition) for condition in self.finder.scope]
        counts: Any = select(func.count(case((and_(*conditions), 1))), func.count(case((and_(true(), *live), 1))))
        sampled: Select[Any] = counts.select_from(sample)
        return sampled
