"""Fetch a page of a list without search terms: its length is known from the counters."""

from functools import partial
from typing import Any

from sqlalchemy import Row, Select, bindparam, literal_column, select, union_all

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list import counters
from groundtransport.records.list.order import Order
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import DEEP_OFFSET, ListResult, Window, last_page_length


class CountedList:
    """All records, those of an airport, of a choice or of both, in an order that an index holds for each of these.

    ``code`` and ``choice`` are the counters' names of the airport and the choice: ALL (or DELETED) without one.
    """

    def __init__(self, reader: ListReader, order: Order, code: str, choice: str = ALL) -> None:
        self.reader, self.order = reader, order
        self.code, self.choice = code, choice
        self.dbsession, self.kind, self.table = reader.dbsession, reader.kind, reader.table
        self.conditions = (*reader.scope, *reader.groups)

    def fetch(self, window: Window) -> ListResult:
        """Return a page; near the start of the list, rows and numbers come by one statement."""
        code, choice, reader = self.code, self.choice, self.reader
        if window.is_near:
            values = {"code": code, "choice": choice, "length": window.length, "offset": window.start}
            limit = window.length if window.is_first else None
            make = partial(self._near, limit)
            rows = reader.run("near", make, self.order.shape, code == ALL, choice == ALL, limit, **values).all()
            if rows:
                numbers = rows[0][len(reader.names) :]
                return ListResult(reader.to_dicts(rows), int(numbers[0]), int(numbers[-1]))
        total, filtered = counters.fetch_counts(self.dbsession, self.kind, code, choice)
        return ListResult(reader.to_dicts(self._rows(window, filtered)), total, filtered)

    def _near(self, limit: int | None) -> Select[Any]:
        return self._first(self.order, limit).add_columns(*counters.count_columns(self.kind, self.code, self.choice))

    def _rows(self, window: Window, number: int) -> list[Row[Any]]:
        """Return a page of ``number`` rows along the index: from its nearer end, or from a neighboring record."""
        start = number - last_page_length(number, window.length) if window.at_end else window.start
        length = min(window.length, number - start)
        if length <= 0:
            return []
        if window.has_anchor:
            order = self.order if window.after else self.order.turned()
            rows = self._beside(order, window.after or window.before or 0, length)
            if len(rows) == length:
                return rows if window.after else rows[::-1]
        from_end = number - start - length
        if from_end < start:
            return self._from(self.order.turned(), from_end, length)[::-1]
        return self._from(self.order, start, length)

    def _from(self, order: Order, offset: int, length: int) -> list[Row[Any]]:
        """Return rows from an offset; beyond DEEP_OFFSET, read the ids from the index alone, then the rows."""
        values = {"length": length, "offset": offset}
        if offset <= DEEP_OFFSET:
            return list(self.reader.run("first", lambda: self._first(order), order.shape, **values))
        if order.is_by_id and not self.reader.groups and not self.reader.query.deleted:
            edge = counters.block_edge(self.dbsession, self.kind, offset, descending=order.descending)
            if edge:
                return self._at(order, edge[0], edge[1], length)
        ids = self.reader.run("far", lambda: self._paged(order, self.table.c.id), order.shape, **values)
        return self.reader.by_ids(ids.scalars().all())

    def _first(self, order: Order, limit: int | None = None) -> Select[Any]:
        """Return the statement of the first ``limit`` rows, or of ``length`` rows from ``offset`` (bind parameters).

        ``limit`` is a literal: with a bind parameter PostgreSQL would plan each execution anew, as the plan for any
        length looks expensive.
        """
        if limit is None:
            return self._paged(order, *self.reader.columns)
        rows = select(*self.reader.columns).where(*self.conditions).order_by(*order.clauses())
        return rows.limit(literal_column(str(limit)))

    def _paged(self, order: Order, *columns: Any) -> Select[Any]:
        rows = select(*columns).where(*self.conditions).order_by(*order.clauses())
        return rows.limit(bindparam("length")).offset(bindparam("offset"))

    def _at(self, order: Order, edge: int, offset: int, length: int) -> list[Row[Any]]:
        """Return rows in order of id, at an offset from the id ``edge``."""
        descending, reader = order.descending, self.reader

        def make() -> Select[Any]:
            beyond = order.beyond(None, bindparam("edge"), itself=True)
            ids = select(self.table.c.id).where(*reader.scope, *beyond)
            ids = ids.order_by(*order.clauses()).limit(bindparam("length")).offset(bindparam("offset"))
            return reader.select_by_ids(ids)

        rows = reader.run("at", make, descending, edge=edge, length=length, offset=offset)
        return sorted(rows, key=lambda row: row.id, reverse=descending)

    def _beside(self, order: Order, anchor: int, length: int) -> list[Row[Any]]:
        """Return the rows that follow the record with the id ``anchor``, which may be deleted by now."""
        key = None
        if not order.is_by_id:
            anchors = self.dbsession.execute(select(order.key).where(self.table.c.id == anchor)).one_or_none()
            if anchors is None:
                return []
            key = anchors[0]
        values = dict(self.reader.criteria.values)
        parts = [
            select(*self.reader.columns).where(*self.conditions, beyond).order_by(*order.clauses()).limit(length)
            for beyond in order.beyond(key, anchor)
        ]
        if len(parts) == 1:
            return list(self.dbsession.execute(parts[0], values))
        following = union_all(*(select(part.subquery()) for part in parts)).limit(length)
        return list(self.dbsession.execute(following, values))
