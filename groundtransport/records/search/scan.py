"""What is looked for in the texts, as no index knows it (words too short), or one would name most records for it."""

from typing import Any

from sqlalchemy import Row, Select, func, literal, select

from groundtransport.records.list.query import MISSING
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.base import EXACT, SHORT, WALK, WALK_MAX, Search
from groundtransport.records.search.time_limit import OutOfTime


class ScanSearch(Search):
    """Walks as far as it must, and counts the rest. A subclass knows how to guess how many match."""

    def find_short(self, window: Window) -> ListResult:
        """Return the rows of a window, and how many match, by no index but that of the sort, or of what is missing."""
        guess = self.guess_short()
        is_rare = guess <= 2 * EXACT
        rows: list[Row[Any]] = []
        if not (is_rare and self.is_of_missing):  # an index knows these
            is_near = self.walk_cost(window, guess) <= WALK_MAX
            rows = self.scan(window, SHORT, self.total if not is_rare else WALK_MAX if is_near else WALK)
        if not is_rare or self.truncated:
            return self.answer(window, rows or self.last_resort(window), max(guess, len(rows)), is_estimate=True)
        try:
            if len(rows) < window.length:
                number, found = self.read(window, EXACT + 1)
            else:
                number, found = self.count_texts(EXACT + 1), rows
        except OutOfTime:
            self.truncated = True
            rows = rows or self.last_walks(window)  # no last resort: they were read in vain
            return self.answer(window, rows, max(guess, len(rows)), is_estimate=True)
        if number > EXACT:
            if len(rows) < window.length:
                rows = self.scan(window, WALK_MAX, self.total)
            return self.answer(window, rows, max(self.guess_again(guess), number), is_estimate=True)
        return self.answer(window, found, number, is_estimate=False)

    @property
    def is_of_missing(self) -> bool:
        return MISSING in self.reader.query.filters

    def guess_short(self) -> int:
        """Return a guess of how many match, soon."""
        raise NotImplementedError

    def guess_again(self, guess: int) -> int:
        """Return a better guess, where the first one was found too low."""
        return guess

    def count_texts(self, most: int) -> int:
        """Return the number of matches, ``most`` at most, by reading texts: nothing is kept of them, nothing sorted."""

        def make() -> Select[Any]:
            some = self._reading(literal(1).label("one")).subquery()
            return select(func.count()).select_from(some)

        with self.reader.budget.limit():
            return int(self.reader.run("texts", make, most=most).scalar_one())
