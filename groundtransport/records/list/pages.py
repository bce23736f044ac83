"""One page of a list, as HTML and DataTables' JSON want it."""

from dataclasses import dataclass, replace
from typing import Any

from pyramid.request import Request
from sqlalchemy import ColumnElement, false, func, not_, select
from sqlalchemy.orm import Session

from groundtransport.records.kind import Kind
from groundtransport.records.list.execute import execute
from groundtransport.records.list.query import (
    LAST,
    ListQuery,
    Slice,
    bounded,
    number,
    of_request,
    only_once,
    page_numbers,
    read_slice,
    with_datatables,
)
from groundtransport.records.list.window import DEEP_OFFSET, ListResult, Window
from groundtransport.records.search.predicates import filled, group_conditions, texts
from groundtransport.records.search.terms import wanted
from groundtransport.settings import PAGE_SIZES


@dataclass(frozen=True)
class Page:
    """One page of a list, as the HTML shows it. ``is_estimate`` says that ``filtered`` and ``last`` are guessed."""

    query: ListQuery
    rows: list[dict[str, Any]]
    total: int
    filtered: int
    number: int
    last: int
    is_estimate: bool = False
    truncated: bool = False
    is_end: bool = False  # the last rows of a list whose length is not known: their numbers are not known either
    is_uncounted: bool = False  # ``filtered`` and ``last`` say no more than whether there may be a next page

    @property
    def first_row(self) -> int:
        return (self.number - 1) * self.query.page_size + 1 if self.filtered else 0

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1 if self.rows else 0

    @property
    def has_next(self) -> bool:
        if self.is_estimate:
            return not self.is_end and len(self.rows) == self.query.page_size
        return self.number < self.last

    @property
    def state(self) -> str:
        """The query string of this page."""
        if not self.query.page_no:
            return self.query.state()
        return self.query.state(page_no=LAST if self.is_end else str(self.number))

    def address(self, target: int) -> str:
        """Return the query string of another page: a neighbor far from the start is reached from this one's rows."""
        if self.is_estimate and target == self.last:
            return self.query.state(page_no=LAST)
        beside = {}
        if self.rows and (self.number + 1) * self.query.page_size > DEEP_OFFSET:
            if target == self.number + 1:
                beside = {"after": str(self.rows[-1]["id"])}
            elif target == self.number - 1:
                beside = {"before": str(self.rows[0]["id"])}
        return self.query.state(page_no=str(target), **beside)


def live(kind: Kind) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = kind.model.is_live()
    return condition


def scope(kind: Kind, query: ListQuery) -> ColumnElement[bool]:
    """Return the condition of the records that a query is about at all: the live ones, or the deleted ones."""
    return not_(live(kind)) if query.deleted else live(kind)


def conditions(kind: Kind, query: ListQuery) -> list[ColumnElement[bool]]:
    """Return what the rows of a query must fulfil, all of it."""
    found = wanted(kind, query)
    if found.is_impossible:
        return [false()]
    return filled([*group_conditions(kind, found), *texts(kind, found, indexed=True)], found)


def count(
    dbsession: Session, kind: Kind, *conditions: ColumnElement[bool], most: int | None = None, hint: str = ""
) -> int:
    """Return how many records fulfil all conditions, by counting them: for few, for who can wait, or up to ``most``.

    ``hint`` is SQLite's.
    """
    some = select(kind.model.id).where(*conditions).limit(most).with_hint(kind.model, hint, "sqlite")
    return dbsession.scalar(select(func.count()).select_from(some.subquery())) or 0


@dataclass(frozen=True)
class Beside:
    """The id of the record that stands just before (``after``) or just after (``before``) the rows."""

    after: int | None = None
    before: int | None = None

    @classmethod
    def of(cls, request: Request) -> "Beside":
        """Return what an address says by ``after`` or ``before``."""
        once = only_once(request.GET.dict_of_lists())
        after, before = number(once.get("after", "")), number(once.get("before", ""))
        return cls(after, None if after else before)


def page(dbsession: Session, kind: Kind, query: ListQuery, beside: Beside | None = None) -> Page:
    """Return the page that was asked for; past the end, the last one."""
    size = query.page_size
    asked = bounded(query.page_no) or 1
    window = _window(beside, (asked - 1) * size, size, at_end=query.page_no == LAST)
    found = execute(dbsession, kind, query, window)
    if not found.rows and found.filtered and not found.truncated and not window.at_end:
        window = replace(window, at_end=True)
        found = execute(dbsession, kind, query, window)
    shown, last = page_numbers(replace(query, page_no=LAST if window.at_end else query.page_no), found.filtered)
    if found.is_estimate and not window.at_end:
        shown, last = asked, max(last, asked)
    is_end = (found.is_estimate or found.is_uncounted) and window.at_end
    numbers = found.total, found.filtered, shown, last
    return Page(query, found.rows, *numbers, found.is_estimate, found.truncated, is_end, found.is_uncounted)


def of_datatables(kind: Kind, request: Request) -> ListQuery:
    """Return the query of a DataTables request."""
    return with_datatables(kind, of_request(kind, request), only_once(request.GET.dict_of_lists()))


@dataclass(frozen=True)
class Rows:
    """The answer to a DataTables request, without the rows' actions; ``start`` is the offset of its first row.

    ``query`` is that of the HTML pages with these rows: they are of another size where no page has ``length`` rows.
    """

    query: ListQuery
    start: int
    is_end: bool  # the last rows of a list whose length is not known: their offsets are not known either
    answer: dict[str, Any]

    def state(self, offset: int) -> str:
        """Return the state of the HTML page that shows the row at an offset of the list."""
        if self.is_end:
            return self.query.state()
        return self.query.state(page_no=str(offset // self.query.page_size + 1))


def datatables(dbsession: Session, kind: Kind, query: ListQuery, request: Request) -> Rows:
    """Return the rows of a DataTables request."""
    sent = request.GET.dict_of_lists()
    part = read_slice(sent, query)
    at_end = query.page_no == LAST and "start" not in sent
    window = _window(Beside.of(request), part.start, part.length, at_end=at_end)
    found = execute(dbsession, kind, query, window)
    if at_end:
        part = replace(part, start=max(0, (found.filtered - 1) // part.length * part.length))
    if "length" in sent and part.length in PAGE_SIZES:
        query = replace(query, page_size=part.length, size_sent=True)
    is_end = at_end and (found.is_estimate or found.is_uncounted)
    return Rows(query, part.start, is_end, _answer(part, found))


def _answer(part: Slice, found: ListResult) -> dict[str, Any]:
    answer = {
        "draw": part.draw,
        "recordsTotal": found.total,
        "recordsFiltered": found.filtered,
        "data": found.rows,
    }
    if found.is_estimate:
        answer["recordsFilteredIsEstimate"] = True
    if found.truncated:
        answer["truncated"] = True
    if found.is_uncounted:
        answer["recordsFilteredIsUnknown"] = True
    return answer


def _window(beside: Beside | None, start: int, length: int, *, at_end: bool) -> Window:
    beside = beside or Beside()
    return Window(start, length, at_end, beside.after, beside.before)
