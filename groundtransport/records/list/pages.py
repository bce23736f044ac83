"""A page of a list, for the HTML view and for DataTables."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, false, func, not_, select
from sqlalchemy.orm import Session

from groundtransport.records.kind import Kind
from groundtransport.records.list.execute import execute
from groundtransport.records.list.query import (
    LAST,
    ListQuery,
    Slice,
    page_numbers,
    parse_capped_int,
    query_from_request,
    read_slice,
    single_values,
    with_datatables,
)
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.predicates import bind_values, group_conditions, text_conditions
from groundtransport.records.search.terms import parse_criteria
from groundtransport.request import Request
from groundtransport.settings import PAGE_SIZES


@dataclass(frozen=True)
class Page:
    """A page of a list for the HTML view. If ``is_estimate``, ``filtered`` and ``last`` are estimates."""

    query: ListQuery
    rows: list[dict[str, Any]]
    total: int
    filtered: int
    number: int
    last: int
    is_estimate: bool = False
    truncated: bool = False
    is_end: bool = False  # the last page of a list of unknown length, so its row numbers are unknown too
    is_uncounted: bool = False  # not counted in time: ``filtered`` and ``last`` only tell whether a next page may exist

    @property
    def first_row(self) -> int:
        """The number of the first row in the list, from 1; 0 for an empty page."""
        return (self.number - 1) * self.query.page_size + 1 if self.filtered else 0

    @property
    def last_row(self) -> int:
        """The number of the last row in the list."""
        return self.first_row + len(self.rows) - 1 if self.rows else 0

    @property
    def has_next(self) -> bool:
        """True if there is a page after this one."""
        if self.is_estimate:
            return not self.is_end and len(self.rows) == self.query.page_size
        return self.number < self.last

    @property
    def state(self) -> str:
        """The query string of this page's URL."""
        if not self.query.page_no:
            return self.query.state()
        return self.query.state(page_no=LAST if self.is_end else str(self.number))

    def url(self, target: int) -> str:
        """Return the query string of page ``target``."""
        return self.query.state(page_no=LAST if self.is_estimate and target == self.last else str(target))


def live(kind: Kind) -> ColumnElement[bool]:
    """Return the condition of records that are not deleted."""
    condition: ColumnElement[bool] = kind.model.is_live()
    return condition


def scope(kind: Kind, query: ListQuery) -> ColumnElement[bool]:
    """Return the condition of live records, or of deleted ones if the query is for these."""
    return not_(live(kind)) if query.deleted else live(kind)


def conditions(kind: Kind, query: ListQuery, *, indexed: bool = True) -> list[ColumnElement[bool]]:
    """Return the conditions of a query's search and filters, with their values bound.

    Without ``indexed``, they compare texts and do not use the search index: for records whose ids are known.
    """
    criteria = parse_criteria(kind, query)
    if criteria.is_impossible:
        return [false()]
    return bind_values([*group_conditions(kind, criteria), *text_conditions(kind, criteria, indexed=indexed)], criteria)


def count(
    dbsession: Session, kind: Kind, *conditions: ColumnElement[bool], most: int | None = None, hint: str = ""
) -> int:
    """Count the records that meet all conditions, up to ``most``. It reads them all: slow for many records.

    ``hint`` is SQLite's TRIGRAM BY clause.
    """
    ids = select(kind.model.id).where(*conditions).limit(most).with_hint(kind.model, hint, "sqlite")
    return dbsession.scalar(select(func.count()).select_from(ids.subquery())) or 0


def page(dbsession: Session, kind: Kind, query: ListQuery) -> Page:
    """Return the page of a query; beyond the end, the last page."""
    size = query.page_size
    page_no = parse_capped_int(query.page_no) or 1
    window = Window((page_no - 1) * size, size, at_end=query.page_no == LAST)
    result = execute(dbsession, kind, query, window)
    if not result.rows and result.filtered and not result.truncated and not window.at_end:
        window = replace(window, at_end=True)
        result = execute(dbsession, kind, query, window)
    page_shown, last = page_numbers(replace(query, page_no=LAST if window.at_end else query.page_no), result.filtered)
    if result.is_estimate and not window.at_end:
        page_shown, last = page_no, max(last, page_no)
    is_end = (result.is_estimate or result.is_uncounted) and window.at_end
    numbers = result.total, result.filtered, page_shown, last
    return Page(query, result.rows, *numbers, result.is_estimate, result.truncated, is_end, result.is_uncounted)


def datatables_query(kind: Kind, request: Request) -> ListQuery:
    """Return the list query of a DataTables request."""
    return with_datatables(kind, query_from_request(kind, request), single_values(request.GET.dict_of_lists()))


@dataclass(frozen=True)
class Rows:
    """The JSON response to a DataTables request, without the rows' actions; ``start`` is the offset of the first row.

    ``query`` is the query of the HTML pages with these rows, whose size differs if ``length`` is no offered page size.
    """

    query: ListQuery
    start: int
    is_end: bool  # the last page of a list of unknown length, so its offsets are unknown too
    answer: dict[str, Any]

    def state(self, offset: int) -> str:
        """Return the query string of the HTML page that shows the row at ``offset`` of the list."""
        if self.is_end:
            return self.query.state()
        return self.query.state(page_no=str(offset // self.query.page_size + 1))


def datatables(dbsession: Session, kind: Kind, query: ListQuery, request: Request) -> Rows:
    """Return the rows of a DataTables request."""
    params = request.GET.dict_of_lists()
    part = read_slice(params, query)
    at_end = query.page_no == LAST and "start" not in params
    result = execute(dbsession, kind, query, Window(part.start, part.length, at_end))
    if at_end:
        part = replace(part, start=max(0, (result.filtered - 1) // part.length * part.length))
    if "length" in params and part.length in PAGE_SIZES:
        query = replace(query, page_size=part.length, size_sent=True)
    is_end = at_end and (result.is_estimate or result.is_uncounted)
    return Rows(query, part.start, is_end, _answer(part, result))


def _answer(part: Slice, result: ListResult) -> dict[str, object]:
    """Return the JSON that DataTables reads, and flags for an inexact number of matches."""
    answer = {
        "draw": part.draw,
        "recordsTotal": result.total,
        "recordsFiltered": result.filtered,
        "data": result.rows,
    }
    flags = {
        "recordsFilteredIsEstimate": result.is_estimate,
        "truncated": result.truncated,
        "recordsFilteredIsUnknown": result.is_uncounted,
    }
    return answer | {name: True for name, is_set in flags.items() if is_set}
