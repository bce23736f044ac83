"""Execute a list query: choose between the counters' lists and the searches."""

from sqlalchemy.orm import Session

from groundtransport.indexes.counter_tables import ALL, DELETED
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.fetch import CountedList
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search import result_cache
from groundtransport.records.search.deleted import search_deleted
from groundtransport.records.search.facets import GroupSearch
from groundtransport.records.search.postgresql import PostgreSQLSearch
from groundtransport.records.search.sqlite import SQLiteSearch


def execute(dbsession: Session, kind: Kind, query: ListQuery, window: Window) -> ListResult:
    """Return the rows of a window and their numbers; past the end, no rows."""
    reader = ListReader(dbsession, kind, query)
    if reader.criteria.is_impossible:
        return ListResult([], reader.total(), 0)
    if reader.criteria.is_empty:
        return CountedList(reader, reader.order, DELETED if query.deleted else ALL).fetch(window)
    try:
        if query.deleted:
            return search_deleted(reader, window)
        if reader.criteria.is_counted(reader.counted_by):
            return _fetch_counted(reader, window)
        return _search(reader, window)
    finally:
        reader.budget.close()


def _fetch_counted(reader: ListReader, window: Window) -> ListResult:
    """Return records of an airport, of a choice or of both."""
    groups, order = reader.criteria.groups, reader.order
    code, choice = groups.get("airport_code", ALL), groups.get(reader.counted_by or "", ALL)
    if order.is_by_id or order.name in groups:
        # All have the same sort key: the index gives them by id.
        return CountedList(reader, Order(reader.kind, "id", order.descending), code, choice).fetch(window)
    total, filtered = counters.fetch_counts(reader.dbsession, reader.kind, code, choice)
    return GroupSearch(reader, total, filtered).find(window)


def _search(reader: ListReader, window: Window) -> ListResult:
    """Return live records that match search terms, from the result cache where nothing has changed since."""
    result = result_cache.recall(reader, window)
    if result is None:
        result = (SQLiteSearch(reader) if reader.is_sqlite else PostgreSQLSearch(reader)).find(window)
    return result
