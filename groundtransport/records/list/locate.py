"""Locate a saved record: on the page shown, on another page, or outside the search and the filters."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.records.flash import peek_messages
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters, pages
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.records.urls import list_url
from groundtransport.request import Request
from groundtransport.resources import Collection, Record


@dataclass(frozen=True)
class HiddenRecord:
    """A saved record that is not on the page shown. ``matches`` is True if it matches the search and the filters."""

    name: str
    matches: bool
    find: str  # URL of the page that holds it
    view: str  # URL of the list with its details open


def saved(request: Request, kind: Kind) -> dict[int, str]:
    """Return the records of the pending flash messages, as a dictionary of id to name."""
    messages = [message for message in peek_messages(request) if message.kind_name == kind.name]
    return {message.record_id: message.name for message in messages if message.record_id is not None}


def saved_records_not_shown(request: Request, collection: Collection, page: pages.Page) -> Iterator[HiddenRecord]:
    """Yield the saved records that are not on the page."""
    kind, live = collection.kind, replace(page.query, deleted=False, page_no="")
    ids_on_page = {row["id"] for row in page.rows}
    for record_id, name in saved(request, kind).items():
        if record_id in ids_on_page or not isinstance(collection.get(str(record_id)), Record):
            continue
        matches = matches_query(request.dbsession, kind, live, record_id)
        find = list_url(request, kind, _with(live, "find", record_id))
        yield HiddenRecord(name, matches, find, list_url(request, kind, _with(page.query, "view", record_id)))


def _with(query: ListQuery, name: str, record_id: int) -> str:
    return "&".join(part for part in (query.state(), f"{name}={record_id}") if part)


def matches_query(dbsession: Session, kind: Kind, query: ListQuery, record_id: int) -> bool:
    """Return True if a record matches the search and the filters."""
    conditions = (pages.scope(kind, query), kind.model.id == record_id, *pages.conditions(kind, query))
    return dbsession.scalar(select(kind.model.id).where(*conditions)) is not None


def page_holding(dbsession: Session, kind: Kind, query: ListQuery, record_id: int) -> ListQuery:
    """Return the query of the page that holds a record, without search and filters if it does not match them."""
    if not matches_query(dbsession, kind, query, record_id):
        query = replace(query, q="", filters={})
    return replace(query, page_no=_page_no(dbsession, kind, query, record_id))


def _page_no(dbsession: Session, kind: Kind, query: ListQuery, record_id: int) -> str:
    """Return the number of the page that holds a record; "" if the time limit is reached."""
    with suppress(OutOfTime), Budget(dbsession) as budget, budget.limit():
        return str(_before(dbsession, kind, query, record_id) // query.page_size + 1)
    return ""


def _before(dbsession: Session, kind: Kind, query: ListQuery, record_id: int) -> int:
    """Return the number of records before this one in the list."""
    order = Order.of(kind, query)
    if order.is_by_id and not query.is_filtered and not query.deleted:
        return counters.count_before(dbsession, kind, record_id, descending=order.descending)
    key = None if order.is_by_id else dbsession.scalar(select(order.key).where(order.columns.id == record_id))
    conditions = (pages.scope(kind, query), *pages.conditions(kind, query))
    ranges = order.turned().beyond(key, record_id)
    return sum(pages.count(dbsession, kind, *conditions, index_range) for index_range in ranges)
