"""Where a saved record is now: on the page that comes back, on another one, or outside the search and the filters."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pyramid.request import Request
from sqlalchemy import select

from groundtransport.records.flash import peek_messages
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters, pages
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.records.urls import list_url
from groundtransport.resources import Collection, Record


@dataclass(frozen=True)
class Elsewhere:
    """A saved record that is not among the rows. ``matches``: the search and the filters let it through."""

    name: str
    matches: bool
    find: str  # the address of the page that holds it
    view: str  # the address of its details over the list


def saved(request: Request, kind: Kind) -> dict[int, str]:
    """Return the ids of the records that the waiting messages tell about, with their names."""
    messages = [message for message in peek_messages(request) if message.kind_name == kind.name]
    return {message.record_id: message.name for message in messages if message.record_id is not None}


def elsewhere(request: Request, collection: Collection, page: pages.Page) -> Iterator[Elsewhere]:
    """Yield the saved records that are not among the page's rows."""
    kind, live = collection.kind, replace(page.query, deleted=False, page_no="")
    shown = {row["id"] for row in page.rows}
    for record_id, name in saved(request, kind).items():
        if record_id in shown or not isinstance(collection.get(str(record_id)), Record):
            continue
        matches = holds(request.dbsession, kind, live, record_id)
        find = list_url(request, kind, _with(live, "find", record_id))
        yield Elsewhere(name, matches, find, list_url(request, kind, _with(page.query, "view", record_id)))


def _with(query: ListQuery, name: str, record_id: int) -> str:
    return "&".join(part for part in (query.state(), f"{name}={record_id}") if part)


def holds(dbsession: Any, kind: Kind, query: ListQuery, record_id: int) -> bool:
    """Whether the search and the filters let a record through."""
    wanted = (pages.scope(kind, query), kind.model.id == record_id, *pages.conditions(kind, query))
    return dbsession.scalar(select(kind.model.id).where(*wanted)) is not None


def page_with(dbsession: Any, kind: Kind, query: ListQuery, record_id: int) -> ListQuery:
    """Return the query of the page that holds a record, without search and filters if they leave it out."""
    if not holds(dbsession, kind, query, record_id):
        query = replace(query, q="", filters={})
    return replace(query, page_no=_page_no(dbsession, kind, query, record_id))


def _page_no(dbsession: Any, kind: Kind, query: ListQuery, record_id: int) -> str:
    """Return the number of the page that holds a record; "" where finding out takes too long."""
    with suppress(OutOfTime), Budget(dbsession) as budget, budget.limit():
        return str(_before(dbsession, kind, query, record_id) // query.page_size + 1)
    return ""


def _before(dbsession: Any, kind: Kind, query: ListQuery, record_id: int) -> int:
    """Return how many records stand before one in a list."""
    order = Order.of(kind, query)
    if order.is_by_id and not query.is_filtered and not query.deleted:
        return counters.before(dbsession, kind, record_id, descending=order.descending)
    key = None if order.is_by_id else dbsession.scalar(select(order.key).where(order.columns.id == record_id))
    wanted = (pages.scope(kind, query), *pages.conditions(kind, query))
    ranges = order.turned().beyond(key, record_id)
    return sum(pages.count(dbsession, kind, *wanted, one) for one in ranges)
