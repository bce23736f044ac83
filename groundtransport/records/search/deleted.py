"""Search deleted records: there are few, so their search texts are read."""

from typing import Any

from sqlalchemy import Select, bindparam, func, select

from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.base import EXACT_MAX, Search
from groundtransport.records.search.time_limit import OutOfTime


def search_deleted(reader: ListReader, window: Window) -> ListResult:
    """Return deleted records that match; their number is exact up to EXACT_MAX."""
    search = Search(reader)
    order, start = search.order_of(window), 0 if window.at_end else window.start
    hint = f"INDEXED BY ix_{reader.kind.table}_deleted"

    def matching() -> Select[Any]:
        ids = select(reader.table.c.id).where(*reader.scope, *search.conditions)
        return ids.with_hint(reader.table, hint, "sqlite")

    def counted() -> Select[Any]:
        return select(func.count()).select_from(matching().limit(EXACT_MAX + 1).subquery())

    def paged() -> Select[Any]:
        return matching().order_by(*order.clauses()).limit(bindparam("length")).offset(bindparam("offset"))

    number: int | None = None
    search.total, rows = reader.total(), []
    try:
        with reader.budget.limit():
            number = int(reader.run("count", counted).scalar() or 0)
            ids = reader.run("rows", paged, order.shape, length=window.length, offset=start)
            rows = reader.by_ids(ids.scalars().all())
    except OutOfTime:
        search.truncated = True
    return search.result(window, rows, number or 0, is_estimate=number is None or number > EXACT_MAX)
