"""One page of a list, from the database. Reads columns, not entities."""

from dataclasses import dataclass, replace
from typing import Any

from pyramid.request import Request
from sqlalchemy import ColumnElement, Select, String, Text, func, not_, select
from sqlalchemy.orm import Session

from groundtransport.db import sort_text
from groundtransport.records.kind import Kind
from groundtransport.records.query import (
    DELETION,
    LAST,
    ListQuery,
    choices,
    of_request,
    only_once,
    page_numbers,
    read_slice,
    sortable,
    with_datatables,
)
from groundtransport.records.search import filter_matches, matches
from groundtransport.settings import PAGE_SIZES


def live(kind: Kind) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = kind.model.is_live()
    return condition


def scope(kind: Kind, query: ListQuery) -> ColumnElement[bool]:
    """Return the condition of the records that a query is about at all: the live ones, or the deleted ones."""
    return not_(live(kind)) if query.deleted else live(kind)


def count(dbsession: Session, kind: Kind, *conditions: ColumnElement[bool]) -> int:
    """Return how many records fulfil all conditions."""
    return dbsession.scalar(select(func.count()).select_from(kind.model).where(*conditions)) or 0


def conditions(kind: Kind, query: ListQuery) -> list[ColumnElement[bool]]:
    """Return what the rows of a query must fulfil, all of it."""
    found = [matches(kind, query.q)] if query.q else []
    for name, text in query.filters.items():
        if name == "airport_code":
            found.append(kind.model.airport_code == text.upper().replace("\0", " "))
        elif name in choices(kind):
            found.append(getattr(kind.model, name) == text.casefold().replace("\0", " "))
        else:
            found.append(filter_matches(kind, name, text))
    return found


def rows(dbsession: Session, kind: Kind, query: ListQuery, start: int, length: int) -> list[dict[str, Any]]:
    """Return ``length`` rows from ``start`` on, as plain values: ``id``, the kind's fields, and FURTHER."""
    names = [*sortable(kind), *(DELETION if query.deleted else ())]
    columns = [getattr(kind.model, name) for name in names]
    wanted = select(*columns).where(scope(kind, query), *conditions(kind, query))
    page = _sorted(kind, query, wanted).offset(start).limit(length)
    return [dict(row._mapping) for row in dbsession.execute(page)]


def _sorted(kind: Kind, query: ListQuery, wanted: Select[Any]) -> Select[Any]:
    """Sort a selection; ties are broken by id, and an absent value comes before every other."""
    name = query.sort.removeprefix("-") or ("deleted_at" if query.deleted else "id")
    column = getattr(kind.model, name)
    key = sort_text(column) if isinstance(column.type, String | Text) else column
    descending = query.sort.startswith("-") or not query.sort
    by_key = key.desc().nulls_last() if descending else key.asc().nulls_first()
    if name == "id":
        return wanted.order_by(by_key)
    return wanted.order_by(by_key, kind.model.id.desc() if descending else kind.model.id.asc())


@dataclass(frozen=True)
class Page:
    """One page of a list, as the HTML shows it."""

    query: ListQuery
    rows: list[dict[str, Any]]
    total: int
    filtered: int
    number: int
    last: int

    @property
    def first_row(self) -> int:
        return (self.number - 1) * self.query.page_size + 1 if self.filtered else 0

    @property
    def last_row(self) -> int:
        return min(self.number * self.query.page_size, self.filtered)


def _counts(dbsession: Session, kind: Kind, query: ListQuery) -> tuple[int, int]:
    scoped = scope(kind, query)
    total = count(dbsession, kind, scoped)
    return total, count(dbsession, kind, scoped, *conditions(kind, query)) if query.is_filtered else total


def page(dbsession: Session, kind: Kind, query: ListQuery) -> Page:
    """Return the page that was asked for; past the end, the last one."""
    total, filtered = _counts(dbsession, kind, query)
    number, last = page_numbers(query, filtered)
    found = rows(dbsession, kind, query, (number - 1) * query.page_size, query.page_size)
    return Page(query, found, total, filtered, number, last)


def datatables(dbsession: Session, kind: Kind, request: Request) -> tuple[ListQuery, dict[str, Any]]:
    """Return the query of a DataTables request and the answer to it, without the rows' actions."""
    sent = request.GET.dict_of_lists()
    query = with_datatables(kind, of_request(kind, request), only_once(sent))
    part = read_slice(sent, query)
    total, filtered = _counts(dbsession, kind, query)
    if query.page_no == LAST and "start" not in sent:
        part = replace(part, start=max(0, (filtered - 1) // part.length * part.length))
    found = rows(dbsession, kind, query, part.start, part.length)
    size_sent = query.size_sent or ("length" in sent and part.length in PAGE_SIZES)
    query = replace(query, page_no=str(part.start // part.length + 1), page_size=part.length, size_sent=size_sent)
    return query, {"draw": part.draw, "recordsTotal": total, "recordsFiltered": filtered, "data": found}
