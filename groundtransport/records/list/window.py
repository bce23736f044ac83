"""A page of a list, and the result of fetching one."""

from dataclasses import dataclass

EXACT_MAX = 10_000  # matches of a search that are counted exactly


@dataclass(frozen=True)
class Window:
    """A page of the list: ``length`` rows from offset ``start``, or the last ``length`` rows."""

    start: int
    length: int
    at_end: bool = False

    @property
    def offset(self) -> int:
        """The number of rows to skip in the order of reading, which is reversed for the last rows."""
        return 0 if self.at_end else self.start


@dataclass
class ListResult:
    """The rows of a window in list order, the number of records of the kind and of the query.

    ``is_uncounted`` means that the time limit was reached before the matches were counted: ``filtered`` then only
    tells whether there may be a next page.
    """

    rows: list[dict[str, object]]
    total: int
    filtered: int
    is_estimate: bool = False
    truncated: bool = False
    is_uncounted: bool = False


def last_page_length(number: int, length: int) -> int:
    """Return the number of rows on the last page of a list of ``number`` rows."""
    return number % length or min(length, number)
