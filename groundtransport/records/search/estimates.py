"""Estimates of the number of matches on PostgreSQL: by the planner, or by a sample where the planner is wrong."""

from functools import partial
from typing import Any

from sqlalchemy import Select, Text, and_, bindparam, case, func, select, tablesample, true
from sqlalchemy.dialects.postgresql import ARRAY, array
from sqlalchemy.sql.util import ClauseAdapter

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list import counters
from groundtransport.records.search.base import BLOCK_IDS, EXACT_MAX, FEW, SAMPLE_BLOCKS, WALK_MAX
from groundtransport.records.search.prefilter import Prefilter, any_has_trigrams
from groundtransport.records.search.scan import ScanSearch
from groundtransport.records.search.terms import like_pattern
from groundtransport.records.search.time_limit import SET_TIMEOUT, OutOfTime

ESTIMATED_FEW = 3 * EXACT_MAX // 2  # an estimate up to here may stand for at most EXACT_MAX matches


class EstimatingSearch(ScanSearch):
    """A search that knows, after ``load_facts``, the number of live records and an estimate of its matches."""

    prefilter: Prefilter | None = None  # queried instead of the trigrams

    @property
    def is_indexed(self) -> bool:
        return bool(self.criteria.facet_tokens) or any_has_trigrams(self.criteria.terms)

    @property
    def is_of_fields(self) -> bool:
        """True if a filter restricts a field: the planner only estimates matches of the whole search text."""
        return any(match.mode in ("filter", "phone", "empty", "from", "to") for match in self.criteria.matches)

    def load_facts(self) -> None:
        """Load the number of live records and the planner's estimate, and decide on the prefilter.

        It is used if few records pass it, and fewer than match the other texts. The planner cannot decide that: for a
        partial index, it ignores the statistics of an expression.
        """
        prefilter, (code, choice) = Prefilter(self.criteria), self._counter_names()
        texts = {
            "patterns": self.criteria.estimate_texts,
            "estimable": prefilter.estimable,
            "others": prefilter.others,
        }
        values: dict[str, Any] = {name: list(map(like_pattern, each)) for name, each in texts.items()}
        values |= {"limit": self.reader.budget.set_by_statement(), "code": code, "choice": choice, "few": FEW}
        has_prefilter = bool(prefilter.estimable)
        make = partial(self._facts, with_prefilter=has_prefilter)
        facts = self.reader.run("facts", make, has_prefilter, **values).one()
        self.total, self.estimated = int(facts.total), int(facts.patterns)
        if has_prefilter and facts.passing <= min(WALK_MAX, facts.others // 2):
            self.prefilter = prefilter

    def _counter_names(self) -> tuple[str, str]:
        """Return the airport and the choice of the filters, as the counters name them."""
        groups = self.criteria.groups
        return groups.get("airport_code", ALL), groups.get(self.reader.counted_by or "", ALL)

    def _facts(self, *, with_prefilter: bool) -> Select[Any]:
        """Return the statement of the facts; it sets the time limit, too, which saves a round trip."""
        name, live = self.kind.table, "deleted_at" if "deleted_at" in self.table.c else ""
        names = counters.name_params(*self._counter_names())
        most = select(counters.live_count(name, *names).label("most")).subquery().c.most

        def estimate(texts: str) -> Any:
            return func.record_estimate(name, live, bindparam(texts, type_=ARRAY(Text())))

        def least(texts: str) -> Any:  # the planner takes several texts for independent of each other
            each = func.unnest(bindparam(texts, type_=ARRAY(Text()))).column_valued("each")
            return select(func.min(func.record_estimate(name, live, array([each])))).scalar_subquery()

        # At an airport with few records few can match: that spares the expensive estimates.
        patterns = case((most <= ESTIMATED_FEW, most), else_=estimate("patterns")).label("patterns")
        passing = case((most <= bindparam("few"), most), else_=least("estimable")).label("passing")
        others = case((most <= ESTIMATED_FEW, most), else_=estimate("others")).label("others")
        columns = (patterns, passing, others) if with_prefilter else (patterns,)
        return select(counters.live_count(name).label("total"), *columns, SET_TIMEOUT)

    def estimate(self) -> int:
        """Return the planner's estimate; with filters of fields, a sample's."""
        return self.sampled() if self.is_of_fields else self.estimated

    def refine_estimate(self, estimate: int) -> int:
        """Return a sample's estimate: the planner takes terms for independent of each other."""
        return max(estimate, self.sampled())

    def sampled(self) -> int:
        """Return the number of matches, by their share in a sample; without time left, the planner's estimate."""
        percent = min(100.0, 100.0 * SAMPLE_BLOCKS * BLOCK_IDS / max(self.total, 1))
        try:
            with self.reader.budget.limit():
                matching, live = self.reader.run("sample", self._sample, percent=percent).one()
        except OutOfTime:
            return self.estimated
        return int(matching) * self.total // max(live, 1)

    def _sample(self) -> Select[Any]:
        """Return the statement of the numbers of matches and of live records in a sample of the table's pages."""
        sample = tablesample(self.table, func.system(bindparam("percent")))
        adapter = ClauseAdapter(sample)
        conditions = [adapter.traverse(condition) for condition in (*self.reader.scope, *self.conditions)]
        live = [adapter.traverse(condition) for condition in self.reader.scope]
        counts: Any = select(func.count(case((and_(*conditions), 1))), func.count(case((and_(true(), *live), 1))))
        sampled: Select[Any] = counts.select_from(sample)
        return sampled
