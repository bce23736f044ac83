"""Read the records of an export in chunks by keyset: each chunk begins after the last record of the one before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select, true

from groundtransport.airports.models import Airport
from groundtransport.db import AnyRow, AnySelect
from groundtransport.records.kind import Kind
from groundtransport.records.list import pages
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.validity import VALIDITY, state_column

CHUNK = 2_000  # records of one statement

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Selection:
    """The records of an export: those of a list query in its order, or those with the ``ids``."""

    kind: Kind
    query: ListQuery
    ids: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The selection as a query string, for the security log."""
        return self.query.state(page_no="", page_size="", ids=".".join(map(str, self.ids)))


def read_chunks(connection: Connection, selection: Selection, names: Sequence[str]) -> Iterator[Rows]:
    """Yield the records as rows of the columns ``names``; further values of a row are the keyset's."""
    order = Order.of(selection.kind, selection.query)
    table = selection.kind.model.__table__
    columns = [
        *(state_column(table) if name == VALIDITY else table.c[name] for name in names),
        order.key.label("keyset_key"),
        table.c.id.label("keyset_id"),
    ]
    statement = _matching(selection, *columns).order_by(*order.clauses()).limit(CHUNK)
    ranges: list[ColumnElement[bool]] = [true()]
    while ranges:
        rows = connection.execute(statement.where(ranges[0])).all()
        if rows:
            yield rows
        is_end = len(rows) < CHUNK
        ranges = ranges[1:] if is_end else order.beyond(rows[-1].keyset_key, rows[-1].keyset_id)


def is_longer(connection: Connection, selection: Selection, length: int) -> bool:
    """Return True if the export has more than ``length`` records."""
    ids = _matching(selection, selection.kind.model.__table__.c.id)
    order = Order.of(selection.kind, selection.query)
    return connection.execute(ids.order_by(*order.clauses()).offset(length).limit(1)).first() is not None


def read_airports(connection: Connection, selection: Selection) -> Sequence[AnyRow]:
    """Return the airports of the records, by code: their columns and ``records``, the number of matching records."""
    airport_id = selection.kind.model.__table__.c.airport_id
    counts = _matching(selection, airport_id, func.count().label("records"), is_ordered=False)
    numbers = counts.group_by(airport_id).subquery()
    columns = (Airport.code, Airport.icao, Airport.name, Airport.city, Airport.country)
    airports = select(*columns, Airport.latitude, Airport.longitude, numbers.c.records)
    return connection.execute(airports.join(numbers, numbers.c.airport_id == Airport.id).order_by(Airport.code)).all()


def _matching(selection: Selection, *columns: Any, is_ordered: bool = True) -> AnySelect:
    """Return the SELECT of the selection. SQLite reads along the sort's index, else it would sort each chunk."""
    kind, query = selection.kind, selection.query
    table = kind.model.__table__
    statement = select(*columns).where(pages.scope(kind, query))
    if selection.ids:
        return statement.where(table.c.id.in_(selection.ids))
    if is_ordered:
        statement = statement.with_hint(table, f"INDEXED BY {Order.of(kind, query).index}", "sqlite")
    return statement.where(*pages.conditions(kind, query))
