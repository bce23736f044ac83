"""Search by scans of the texts: for terms too short for the full-text index, or too frequent to query it for."""

from typing import Any

from sqlalchemy import Row, Select, func, literal, select

from groundtransport.records.list.query import MISSING
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.base import EXACT_MAX, WALK_MAX, WALK_MIN, WALK_USUAL, Search
from groundtransport.records.search.time_limit import OutOfTime


class ScanSearch(Search):
    """Fills the window by walks, and counts the matches by a scan. Subclasses estimate their number."""

    def find_by_scan(self, window: Window) -> ListResult:
        """Return a window and the number of matches, by no index but the sort's or that of empty fields."""
        estimate = self.estimate()
        is_rare = estimate <= 2 * EXACT_MAX
        rows: list[Row[Any]] = []
        if not (is_rare and self.is_of_missing):  # an index holds the rows with empty fields
            rows = self.walk_until_full(window, WALK_MIN, self._walk_limit(window, estimate, is_rare=is_rare))
        if not is_rare or self.truncated:
            return self.result(window, rows or self.rescue_rows(window), max(estimate, len(rows)), is_estimate=True)
        try:
            if len(rows) < window.length:
                number, page = self.read_texts(window, EXACT_MAX + 1)
            else:
                number, page = self.count_matching_texts(EXACT_MAX + 1), rows
        except OutOfTime:
            self.truncated = True
            rows = rows or self.rescue_walks(window)  # not rescue_rows: it would scan the texts again
            return self.result(window, rows, max(estimate, len(rows)), is_estimate=True)
        if number > EXACT_MAX:
            if len(rows) < window.length:
                rows = self.walk_until_full(window, WALK_MAX, self.total)
            return self.result(window, rows, max(self.refine_estimate(estimate), number), is_estimate=True)
        return self.result(window, page, number, is_estimate=False)

    def _walk_limit(self, window: Window, estimate: int, *, is_rare: bool) -> int:
        """Return the greatest length of a walk, in rows."""
        if not is_rare:
            return self.total
        return WALK_MAX if self.walk_cost(window, estimate) <= WALK_MAX else WALK_USUAL

    @property
    def is_of_missing(self) -> bool:
        return MISSING in self.reader.query.filters

    def estimate(self) -> int:
        """Return an estimate of the number of matches, within a few milliseconds."""
        raise NotImplementedError

    def refine_estimate(self, estimate: int) -> int:
        """Return a better estimate, for one that was too low."""
        return estimate

    def count_matching_texts(self, most: int) -> int:
        """Return the number of matches, at most ``most``, by a scan without a sort; raise OutOfTime."""

        def make() -> Select[Any]:
            matching = self._matching_texts(literal(1).label("one")).subquery()
            return select(func.count()).select_from(matching)

        with self.reader.budget.limit():
            return int(self.reader.run("texts", make, most=most).scalar_one())
