"""Searches, by the way that suits how much matches.

Few: the index of searches, then a sort. Many: a walk along the index of the sort, no further than a bound, then the
other way after all. Words that are too short for the index: walks, then all texts. What takes too long ends with what
was found.
"""

from typing import Any

from sqlalchemy import Select, bindparam, func, select

from groundtransport.records.list.fetch import Finder, ListResult, Window
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT, Search
from groundtransport.records.search.facets import GroupSearch
from groundtransport.records.search.postgresql import PostgreSQLSearch
from groundtransport.records.search.sqlite import SQLiteSearch
from groundtransport.records.search.time_limit import OutOfTime

__all__ = ["GroupSearch", "search", "search_deleted"]


def search(finder: Finder, window: Window) -> ListResult:
    """Find live records by their texts, unless it is known since a moment ago which they are."""
    found = result_cache.recall(finder, window)
    if found is None:
        found = (SQLiteSearch(finder) if finder.is_sqlite else PostgreSQLSearch(finder)).find(window)
    return found


def search_deleted(finder: Finder, window: Window) -> ListResult:
    """Find deleted records: there are few, and their texts are read."""
    search = Search(finder)
    order, start = search.order_of(window), 0 if window.at_end else window.start
    hint = f"INDEXED BY ix_{finder.kind.table}_deleted"

    def some() -> Select[Any]:
        found = select(finder.table.c.id).where(*finder.scope, *search.conditions)
        return found.with_hint(finder.table, hint, "sqlite")

    def counted() -> Select[Any]:
        return select(func.count()).select_from(some().limit(EXACT + 1).subquery())

    def rows() -> Select[Any]:
        return some().order_by(*order.clauses()).limit(bindparam("length")).offset(bindparam("offset"))

    number: int | None = None
    search.total, found = finder.total(), []
    try:
        with finder.budget.limit():
            number = int(finder.run("count", counted).scalar() or 0)
            ids = finder.run("rows", rows, order.shape, length=window.length, offset=start)
            found = finder.by_ids(ids.scalars().all())
    except OutOfTime:
        search.truncated = True
    return search.answer(window, found, number or 0, is_estimate=number is None or number > EXACT)
