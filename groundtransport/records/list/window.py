"""A page of a list, and the result of fetching one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundtransport.settings import PAGE_SIZES

DEEP_OFFSET = 1_000  # rows; beyond, a page is reached from a neighboring record, and its rows are fetched by id


@dataclass(frozen=True)
class Window:
    """A page of the list: ``length`` rows from offset ``start``, or the last ``length`` rows.

    ``after`` or ``before`` is the id of the record directly before or after the page, if the URL names it.
    """

    start: int
    length: int
    at_end: bool = False
    after: int | None = None
    before: int | None = None

    @property
    def is_near(self) -> bool:
        """Return True if the page is reached by an offset of at most DEEP_OFFSET."""
        return self.start + self.length <= DEEP_OFFSET and not self.at_end

    @property
    def is_first(self) -> bool:
        """Return True for the first page in one of the offered sizes."""
        return self.start == 0 and self.length in PAGE_SIZES and not self.at_end

    @property
    def has_anchor(self) -> bool:
        """Return True if the page is beyond DEEP_OFFSET and a neighboring record is known."""
        return bool(self.after or self.before) and not self.at_end and not self.is_near


@dataclass
class ListResult:
    """The rows of a window in list order, the number of records of the kind and of the query.

    ``is_uncounted`` means that the time limit was reached before the matches were counted: ``filtered`` then only
    tells whether there may be a next page.
    """

    rows: list[dict[str, Any]]
    total: int
    filtered: int
    is_estimate: bool = False
    truncated: bool = False
    is_uncounted: bool = False


def slice_window(ids: Sequence[int], window: Window) -> Sequence[int]:
    """Return the ids of a window out of the ids of the whole list."""
    start = len(ids) - last_page_length(len(ids), window.length) if window.at_end else window.start
    return ids[max(0, start) :][: window.length]


def last_page_length(number: int, length: int) -> int:
    """Return the number of rows on the last page of a list of ``number`` rows."""
    return number % length or min(length, number)
