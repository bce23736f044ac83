"""Execute a list query: read lists whose length the counters hold along an index, and search for all others."""

from functools import partial
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from groundtransport.db import AnySelect
from groundtransport.indexes.counter_tables import ALL, DELETED
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window, last_page_length
from groundtransport.records.search.search import Search

DEEP_OFFSET = 1_000  # rows; beyond, the index alone is read, then the rows by id


def execute(dbsession: Session, kind: Kind, query: ListQuery, window: Window) -> ListResult:
    """Return the rows of a window and their numbers; past the end, no rows."""
    reader = ListReader(dbsession, kind, query)
    criteria = reader.criteria
    if criteria.is_impossible:
        return ListResult([], reader.total(), 0)
    if criteria.is_empty:
        return _list(reader, window, reader.order, DELETED if query.deleted else ALL, ALL)
    with reader.budget:
        if query.deleted or not criteria.is_counted(reader.counted_by):
            return Search(reader, reader.total()).find(window)
        return _counted_list(reader, window)


def _counted_list(reader: ListReader, window: Window) -> ListResult:
    """Return records of an airport, of a choice or of both."""
    groups, order = reader.criteria.groups, reader.order
    code, choice = groups.get("airport_code", ALL), groups.get(reader.counted_by or "", ALL)
    if order.is_by_id or order.name in groups:  # of one sort key, the index holds the records in order of id
        return _list(reader, window, Order(reader.kind, "id", order.descending), code, choice)
    total, number = counters.fetch_counts(reader.dbsession, reader.kind, code, choice)
    return Search(reader, total).find_counted(window, number)


def _list(reader: ListReader, window: Window, order: Order, code: str, choice: str) -> ListResult:
    """Return a window of all records, or of those of an airport, a choice or both, in an order that an index holds.

    ``code`` and ``choice`` are the counters' names of the airport and the choice: ALL (or DELETED) without one.
    """
    total, number = counters.fetch_counts(reader.dbsession, reader.kind, code, choice)
    start = number - last_page_length(number, window.length) if window.at_end else window.start
    length = min(window.length, number - start)
    if length <= 0:
        return ListResult([], total, number)
    from_end = number - start - length
    if from_end < start:
        return ListResult(_rows(reader, order.turned(), from_end, length)[::-1], total, number)
    # Not limited to the number, which is older than the rows: a record that was created since would hide the last one.
    rows = _rows(reader, order, start, window.length)
    number = max(number, start + len(rows))
    return ListResult(rows, max(total, number), number)


def _rows(reader: ListReader, order: Order, offset: int, length: int) -> list[dict[str, object]]:
    """Return the rows from an offset along the index of an order."""
    if offset <= DEEP_OFFSET:
        make = partial(_page, reader, order, *reader.columns)
        return reader.to_dicts(reader.run("rows", make, *order.shape, length=length, offset=offset).all())
    edge = None
    if order.is_by_id and not reader.groups and not reader.query.deleted:
        block_edge = counters.block_edge(reader.dbsession, reader.kind, offset, descending=order.descending)
        edge, offset = block_edge or (None, offset)
    make = partial(_page, reader, order, reader.table.c.id, has_edge=edge is not None)
    ids = reader.run("ids", make, *order.shape, edge is None, length=length, offset=offset, edge=edge)
    return reader.by_ids(ids.scalars().all())


def _page(reader: ListReader, order: Order, *columns: Any, has_edge: bool = False) -> AnySelect:
    """Return the statement of ``length`` rows from ``offset``, counted from the id ``edge`` if there is one."""
    rows = select(*columns).where(*reader.scope, *reader.groups).order_by(*order.clauses())
    if has_edge:
        number = reader.table.c.id
        rows = rows.where(number <= bindparam("edge") if order.descending else number >= bindparam("edge"))
    return rows.limit(bindparam("length")).offset(bindparam("offset"))
