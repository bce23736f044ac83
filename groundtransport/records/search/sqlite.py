"""Searching with FTS5: by its most telling pieces, and by whole words where these are too much."""

import json
from typing import Any

from sqlalchemy import Integer, Row, Select, bindparam, case, func, select

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list.window import ListResult, Window, slice_window
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT, FEW, MANY
from groundtransport.records.search.fts5 import FTS5Search
from groundtransport.records.search.predicates import texts
from groundtransport.records.search.time_limit import OutOfTime

CANDIDATES = 4_000  # rows whose texts are read sooner than the index is asked for a whole word,
OF_SEVERAL = EXACT  # or for several: their pieces may stand in most rows
SELDOM = 16  # of so many records one holds short words that are asked for beside long ones


class SQLiteSearch(FTS5Search):
    """FTS5 is asked for the most telling pieces first, and what it finds is read.

    Only where that is too much it is asked for the whole words.
    """

    def find(self, window: Window) -> ListResult:
        if not self.is_indexed:
            self.look_around()
            if not self.spell_out(MANY):
                return self.find_short(window)
            if self.wanted.is_impossible:
                return self.answer(window, [], 0, is_estimate=False)
        counted = self.recall_number()
        if counted is None:
            try:
                ids = self.look_closely()
                if ids is None and self.spell_out(max(MANY, self.total // SELDOM)):
                    ids = [] if self.wanted.is_impossible else self.look_closely()
            except OutOfTime:
                self.look_around()
                ids = None
            if ids is not None:
                result_cache.remember(self.reader, self.state, ids)
                return self.known(window, ids)
            if self.is_read_sooner():
                return self.find_short(window)
            counted = self.count()
            if not self.truncated:
                result_cache.remember_number(self.reader, self.state, counted[0], is_estimate=counted[1])
        return self.answer(window, self.rows(window, counted[0]), counted[0], is_estimate=counted[1])

    def recall_number(self) -> tuple[int, bool] | None:
        """Return how many matches there are, if it was found a moment ago, and whether that is an estimate.

        An exact number holds while nothing changes. An estimate is wrong by more than what changes in a minute.
        """
        known = result_cache.recall_number(self.reader)
        if known is None:
            return None
        self.look_around()
        state, number, is_estimate = known
        return (number, is_estimate) if is_estimate or state == self.state else None

    def known(self, window: Window, ids: list[int]) -> ListResult:
        """Return rows out of the ids of all matches, in the order of the list."""
        rows = self.reader.by_ids(slice_window(ids, window))
        return ListResult(self.reader.to_dicts(rows), self.total, len(ids))

    def rows(self, window: Window, number: int) -> list[Row[Any]]:
        if number == 0 and not self.truncated:
            return []
        if self.reader.order.is_by_id:
            return self._within(window, self.stream)
        if number > FEW and self.walk_cost(window, number) < number:
            return self.of_many(window, number)
        return self._within(window, self.sorted)

    def _within(self, window: Window, way: Any) -> list[Row[Any]]:
        try:
            found: list[Row[Any]] = way(window)
        except OutOfTime:
            self.truncated = True
            return self.last_resort(window)
        return found

    def look_closely(self) -> list[int] | None:
        """Find out the facts, and the ids of all matches in the list's order where they are few; else return None."""
        order, is_one = self.reader.order, len(self.wanted.terms) + len(self.wanted.marks) == 1
        values = {
            "code": self.wanted.groups.get("airport_code", ALL),
            "loose": self.loose_question,
            "most": CANDIDATES if is_one else OF_SEVERAL,
        }
        with self.reader.budget.limit():
            found = self.reader.run("close", self._closely, order.shape, **values).one()
        self.note_facts(found)
        return None if found.ids is None else list(json.loads(found.ids))

    def _closely(self) -> Select[Any]:
        rowid, most = self.index.c.rowid, bindparam("most", type_=Integer())
        loose = select(rowid.label("id")).select_from(self.index).where(self.matches("loose")).limit(most + 1)
        candidates = loose.cte("candidates").prefix_with("MATERIALIZED")
        number = select(func.count()).select_from(candidates).scalar_subquery()
        joined = candidates.outerjoin(self.table, self.table.c.id == candidates.c.id)
        # The index decides of airport and status: conditions on these would turn the join round.
        found = select(self.table.c.id).select_from(joined).where(*texts(self.kind, self.wanted))
        found = found.order_by(*self.reader.order.clauses()).limit(most)
        listed = found.with_hint(self.table, "NOT INDEXED", "sqlite").subquery()
        ids = select(func.json_group_array(listed.c.id)).scalar_subquery()
        return select(*self.facts(), case((number <= most, ids)).label("ids"))

    def stream(self, window: Window) -> list[Row[Any]]:
        """Return rows by id: FTS5 gives them so, from either end, and reads no further than it must."""
        descending = self.reader.order.descending != window.at_end
        known = window.after or window.before
        beside = bool(known) and not window.at_end and window.start > EXACT
        upwards = (not descending) != (window.after is None) if beside else not descending

        def make() -> Select[Any]:
            rowid = self.index.c.rowid
            ids = self.matching(rowid).order_by(rowid.asc() if upwards else rowid.desc())
            if beside:
                ids = ids.where(rowid > bindparam("known") if upwards else rowid < bindparam("known"))
            return self.reader.select_by_ids(ids.limit(bindparam("length")).offset(bindparam("offset")))

        offset = 0 if beside or window.at_end else window.start
        with self.reader.budget.limit():
            rows = self.run("stream", make, beside, upwards, length=window.length, offset=offset, known=known or 0)
            return sorted(rows, key=lambda row: row.id, reverse=descending)

    def sorted(self, window: Window) -> list[Row[Any]]:
        order, start = self.order_of(window), 0 if window.at_end else window.start

        def make() -> Select[Any]:
            ids = self.matching(self.table.c.id).order_by(*order.clauses())
            return ids.limit(bindparam("length")).offset(bindparam("offset"))

        with self.reader.budget.limit():
            ids = self.run("sorted", make, order.shape, length=window.length, offset=start)
            return self.reader.by_ids(ids.scalars().all())
