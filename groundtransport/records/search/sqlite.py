"""Search on SQLite: candidates by selective trigrams first, by whole terms if there are too many candidates."""

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Integer, Row, Select, bindparam, case, func, select

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list.window import ListResult, Window, slice_window
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT_MAX, FEW, MANY
from groundtransport.records.search.fts5 import FTS5Search
from groundtransport.records.search.predicates import text_conditions
from groundtransport.records.search.time_limit import OutOfTime

CANDIDATES_MAX = 4_000  # rows whose texts are read faster than the index finds a whole term,
CANDIDATES_OF_SEVERAL = EXACT_MAX  # or several: their trigrams may be in most rows
SHORT_WORD_SHARE = 16  # short words beside long terms are looked up if one of so many records contains them


class SQLiteSearch(FTS5Search):
    """Reads the texts of few candidates; counts and sorts many matches by the index."""

    def find(self, window: Window) -> ListResult:
        if not self.is_indexed:
            self.load_facts()
            if not self.expand_short_words(MANY):
                return self.find_by_scan(window)
            if self.criteria.is_impossible:
                return self.result(window, [], 0, is_estimate=False)
        counted = self._recall_number()
        if counted is None:
            ids = self._few_ids()
            if ids is not None:
                result_cache.remember(self.reader, self.state, ids)
                rows = self.reader.by_ids(slice_window(ids, window))
                return ListResult(self.reader.to_dicts(rows), self.total, len(ids))
            if self.is_scan_cheaper():
                return self.find_by_scan(window)
            counted = self.count()
            if not self.truncated:
                result_cache.remember_number(self.reader, self.state, counted[0], is_estimate=counted[1])
        number, is_estimate = counted
        return self.result(window, self._fetch(window, number), number, is_estimate=is_estimate)

    def _recall_number(self) -> tuple[int, bool] | None:
        """Return the cached number of matches, and True if it is an estimate; None if it is unknown or outdated.

        An exact number holds until a record changes; an estimate is less exact than a minute's changes make it.
        """
        cached = result_cache.recall_number(self.reader)
        if cached is None:
            return None
        self.load_facts()
        return (cached.number, cached.is_estimate) if cached.is_estimate or cached.state == self.state else None

    def _few_ids(self) -> list[int] | None:
        """Return the ids of all matches in list order, and load the facts; None if there are many candidates."""
        try:
            ids = self._ids_of_candidates()
            if ids is None and self.expand_short_words(max(MANY, self.total // SHORT_WORD_SHARE)):
                ids = [] if self.criteria.is_impossible else self._ids_of_candidates()
        except OutOfTime:
            self.load_facts()
            return None
        return ids

    def _ids_of_candidates(self) -> list[int] | None:
        order, is_single = self.reader.order, len(self.criteria.terms) + len(self.criteria.facet_tokens) == 1
        values = {
            "code": self.criteria.groups.get("airport_code", ALL),
            "candidate_query": self.candidate_query,
            "most": CANDIDATES_MAX if is_single else CANDIDATES_OF_SEVERAL,
        }
        with self.reader.budget.limit():
            row = self.reader.run("candidates", self._candidates, order.shape, **values).one()
        self.set_facts(row)
        return None if row.ids is None else list(json.loads(row.ids))

    def _candidates(self) -> Select[Any]:
        """Return the statement of the facts, and of the ids of all matches if there are few candidates."""
        rowid, most = self.index.c.rowid, bindparam("most", type_=Integer())
        limited = select(rowid.label("id")).select_from(self.index).where(self.matches("candidate_query"))
        candidates = limited.limit(most + 1).cte("candidates").prefix_with("MATERIALIZED")
        number = select(func.count()).select_from(candidates).scalar_subquery()
        joined = candidates.outerjoin(self.table, self.table.c.id == candidates.c.id)
        # No conditions on airport and status, which the index decides: they would reverse the join.
        matching = select(self.table.c.id).select_from(joined).where(*text_conditions(self.kind, self.criteria))
        matching = matching.order_by(*self.reader.order.clauses()).limit(most)
        listed = matching.with_hint(self.table, "NOT INDEXED", "sqlite").subquery()
        ids = select(func.json_group_array(listed.c.id)).scalar_subquery()
        return select(*self.fact_columns(), case((number <= most, ids)).label("ids"))

    def _fetch(self, window: Window, number: int) -> list[Row[Any]]:
        """Return the rows of a window of ``number`` matches, in the way that suits order and number."""
        if number == 0 and not self.truncated:
            return []
        if self.reader.order.is_by_id:
            return self._or_rescue(window, self._by_id)
        if number > FEW and self.walk_cost(window, number) < number:
            return self.fetch_many(window, number)
        return self._or_rescue(window, self.fetch_sorted)

    def _or_rescue(self, window: Window, fetch: Callable[[Window], list[Row[Any]]]) -> list[Row[Any]]:
        try:
            return fetch(window)
        except OutOfTime:
            self.truncated = True
            return self.rescue_rows(window)

    def _by_id(self, window: Window) -> list[Row[Any]]:
        """Return rows in order of id: FTS5 returns them so, from either end, and stops at the limit."""
        descending = self.reader.order.descending != window.at_end
        anchor = window.after or window.before
        beside = bool(anchor) and not window.at_end and window.start > EXACT_MAX
        upwards = (not descending) != (window.after is None) if beside else not descending

        def make() -> Select[Any]:
            rowid = self.index.c.rowid
            ids = self.matching(rowid).order_by(rowid.asc() if upwards else rowid.desc())
            if beside:
                ids = ids.where(rowid > bindparam("anchor") if upwards else rowid < bindparam("anchor"))
            return self.reader.select_by_ids(ids.limit(bindparam("length")).offset(bindparam("offset")))

        offset = 0 if beside or window.at_end else window.start
        with self.reader.budget.limit():
            values = {"length": window.length, "offset": offset, "anchor": anchor or 0}
            rows = self.run("by id", make, beside, upwards, **values)
            return sorted(rows, key=lambda row: row.id, reverse=descending)

    def fetch_sorted(self, window: Window) -> list[Row[Any]]:
        order, start = self.order_of(window), 0 if window.at_end else window.start

        def make() -> Select[Any]:
            ids = self.matching(self.table.c.id).order_by(*order.clauses())
            return ids.limit(bindparam("length")).offset(bindparam("offset"))

        with self.reader.budget.limit():
            ids = self.run("sorted", make, order.shape, length=window.length, offset=start)
            return self.reader.by_ids(ids.scalars().all())
