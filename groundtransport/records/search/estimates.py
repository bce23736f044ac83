"""How many rows match a search on PostgreSQL: what its planner guesses, which is soon and mostly right, or a sample."""

from collections.abc import Hashable
from functools import partial
from typing import Any

from sqlalchemy import Engine, Select, Text, and_, bindparam, case, func, select, tablesample, true
from sqlalchemy.dialects.postgresql import ARRAY, array
from sqlalchemy.sql.util import ClauseAdapter

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list import counters
from groundtransport.records.search.base import EXACT, FEW, SAMPLE, SAMPLES, WALK_MAX
from groundtransport.records.search.prefilter import Prefilter, any_is_of_trigrams
from groundtransport.records.search.scan import ScanSearch
from groundtransport.records.search.terms import like
from groundtransport.records.search.time_limit import LIMITING, OutOfTime, planning_once

GUESSED = 3 * EXACT // 2  # matches: few, as far as one can guess


class EstimatingSearch(ScanSearch):
    """Knows, once it has looked around, how many live records there are, and about how many match."""

    sieve: Prefilter | None = None  # what is asked in place of trigrams

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
        return self.kind.name, *self.counted, self.wanted.shape, *self.wanted.pieces

    def look_around(self) -> None:
        """Find out how many live records there are, the planner's guess of how many match, and how many can at most.

        The sieve is used where it lets few records pass, and fewer than trigrams would. The planner would not know: for
        a partial index, it looks at no statistics of an expression.
        """
        sieve, (code, choice) = Prefilter(self.wanted), self.counted
        sought = {"patterns": self.wanted.pieces, "sure": sieve.sure, "others": sieve.others}
        values: dict[str, Any] = {name: list(map(like, texts)) for name, texts in sought.items()}
        values |= {"limit": self.reader.budget.told(), "code": code, "choice": choice, "few": FEW}
        make = partial(self._facts, with_sieve=bool(sieve.sure))
        found = self.reader.run("facts", make, bool(sieve.sure), self.is_indexed, **values).one()
        self.total, self.most, self.guessed = map(int, found[:3])
        if sieve.sure and found.passing <= min(WALK_MAX, found.others // 2):
            self.sieve = sieve

    @property
    def counted(self) -> tuple[str, str]:
        """The airport and the choice that are asked for, as the counters name them."""
        groups = self.wanted.groups
        return groups.get("airport_code", ALL), groups.get(self.reader.counted_by or "", ALL)

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

    def guess_short(self) -> int:
        """Return the planner's guess; of fields, which it knows nothing of, what a sample says."""
        return self.sampled() if self.is_of_fields else self.guessed

    def guess_again(self, guess: int) -> int:
        """Return what a sample says: the planner takes words for independent of each other."""
        return max(guess, self.sampled())

    def sampled(self) -> int:
        """Return how many match, by their share in a sample of the table; without time left, the planner's guess."""
        percent = min(100.0, 100.0 * SAMPLES * SAMPLE / max(self.total, 1))
        try:
            with self.reader.budget.limit():
                counts = self.reader.run("sample", self._sample, percent=percent).one()
        except OutOfTime:
            return self.guessed
        return int(counts[0]) * self.total // max(counts[1], 1)

    def _sample(self) -> Select[Any]:
        sample = tablesample(self.table, func.system(bindparam("percent")))
        adapter = ClauseAdapter(sample)
        conditions = [adapter.traverse(condition) for condition in (*self.reader.scope, *self.conditions)]
        live = [adapter.traverse(condition) for condition in self.reader.scope]
        counts: Any = select(func.count(case((and_(*conditions), 1))), func.count(case((and_(true(), *live), 1))))
        sampled: Select[Any] = counts.select_from(sample)
        return sampled
