"""Records of an airport or of a status, which the counters have counted, in any order."""

from typing import Any

from sqlalchemy import Row, Select, bindparam, select

from groundtransport.records.list.order import Order
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search.base import FEW, Search
from groundtransport.records.search.time_limit import OutOfTime


class GroupSearch(Search):
    """Records of an airport or a status, in another order than by id: their number is known."""

    def __init__(self, reader: ListReader, total: int, number: int) -> None:
        super().__init__(reader)
        self.total, self.number = total, number

    def find(self, window: Window) -> ListResult:
        if self.number > FEW and self.walk_cost(window, self.number) < self.number:
            rows = self.of_many(window, self.number)
        else:
            rows = self.of_few(window)
        return self.answer(window, rows, self.number, is_estimate=False)

    def of_few(self, window: Window) -> list[Row[Any]]:
        try:
            return self.sorted(window)
        except OutOfTime:
            self.truncated = True
            return self.last_resort(window)

    def sorted(self, window: Window) -> list[Row[Any]]:
        order, start = self.order_of(window), 0 if window.at_end else window.start
        with self.reader.budget.limit():
            values = {"length": window.length, "offset": start}
            found = self.reader.run("group", lambda: self._sorted(order), order.shape, **values)
            return self.reader.by_ids(found.scalars().all())

    def _sorted(self, order: Order) -> Select[Any]:
        name = "airport_code" if "airport_code" in self.wanted.groups else next(iter(self.wanted.groups))
        found = select(self.table.c.id).where(*self.reader.scope, *self.conditions).order_by(*order.clauses())
        found = found.with_hint(self.table, f"INDEXED BY ix_{self.kind.table}_by_{name}", "sqlite")
        return found.limit(bindparam("length")).offset(bindparam("offset"))
