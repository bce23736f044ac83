"""Fetch records of an airport or of a choice in another order than by id; the counters hold their number."""

from typing import Any

from sqlalchemy import Row, Select, bindparam, select

from groundtransport.records.list.order import Order
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.base import FEW, Search
from groundtransport.records.search.time_limit import OutOfTime


class GroupSearch(Search):
    """Walks to many records, and sorts few."""

    def __init__(self, reader: ListReader, total: int, number: int) -> None:
        super().__init__(reader)
        self.total, self.number = total, number

    def find(self, window: Window) -> ListResult:
        if self.number > FEW and self.walk_cost(window, self.number) < self.number:
            rows = self.fetch_many(window, self.number)
        else:
            rows = self._fetch_few(window)
        return self.result(window, rows, self.number, is_estimate=False)

    def _fetch_few(self, window: Window) -> list[Row[Any]]:
        try:
            return self.fetch_sorted(window)
        except OutOfTime:
            self.truncated = True
            return self.rescue_rows(window)

    def fetch_sorted(self, window: Window) -> list[Row[Any]]:
        order, start = self.order_of(window), 0 if window.at_end else window.start
        with self.reader.budget.limit():
            values = {"length": window.length, "offset": start}
            ids = self.reader.run("group", lambda: self._sorted(order), order.shape, **values)
            return self.reader.by_ids(ids.scalars().all())

    def _sorted(self, order: Order) -> Select[Any]:
        name = "airport_code" if "airport_code" in self.criteria.groups else next(iter(self.criteria.groups))
        ids = select(self.table.c.id).where(*self.reader.scope, *self.conditions).order_by(*order.clauses())
        ids = ids.with_hint(self.table, f"INDEXED BY ix_{self.kind.table}_by_{name}", "sqlite")
        return ids.limit(bindparam("length")).offset(bindparam("offset"))
