"""Many rows of one table at once, in the quickest way that either database has. It publishes nothing.

Only the writer of records and the activity log use it: whoever else wrote so would pass the log by.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import orjson
from sqlalchemy import JSON, Dialect, Insert, Table, Text, bindparam, cast, column, func, insert, select, text
from sqlalchemy.orm import Session


def next_ids(session: Session, model: Any, number: int) -> Sequence[int]:
    """Return the ids of the next rows, ascending. No other row gets them."""
    table = model.__table__.name
    if session.get_bind().dialect.name == "postgresql":
        sequence = func.pg_get_serial_sequence(table, "id")
        ids = select(func.nextval(sequence)).select_from(func.generate_series(1, number))
        return sorted(session.scalars(ids))
    # The transaction holds SQLite's one lock for writers; a row with an id moves the sequence on.
    last = session.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table}) or 0
    return range(last + 1, last + 1 + number)


def insert_rows(session: Session, model: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows that map the same columns to values. A column's own default is made once, for all of them.

    Many rows are one statement with one parameter: for PostgreSQL one round trip, one run of each trigger, and nothing
    to prepare for each value; for SQLite a time in which the other threads of this process go on.
    """
    table: Table = model.__table__
    if len(rows) < 2:
        session.execute(_insert(table), rows)
        return
    names = tuple(rows[0])
    dialect = session.get_bind().dialect
    processors = {name: make for name in names if (make := _processor(table.c[name], dialect))}
    plain = [{**row, **{name: make(row[name]) for name, make in processors.items()}} for row in rows]
    whole = orjson.dumps(plain).decode()
    session.execute(_insert_all(table, names, dialect.name), {"whole": whole})


def _processor(column: Any, dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return what makes the database's own value of a column's, where that takes anything."""
    make: Callable[[Any], Any] | None = column.type.dialect_impl(dialect).bind_processor(dialect)
    return make


@cache
def _insert(table: Table) -> Insert:
    return insert(table)


@cache
def _insert_all(table: Table, names: tuple[str, ...], dialect: str) -> Insert:
    """Return the statement that inserts the rows of the JSON text ``whole``."""
    whole: Any = bindparam("whole", type_=Text())
    if dialect == "postgresql":
        columns = [column(name, table.c[name].type) for name in names]
        found = func.json_to_recordset(cast(whole, JSON)).table_valued(*columns, name="found")
        return insert(table).from_select(names, select(*found.render_derived(with_types=True).c))
    rows = func.json_each(whole).table_valued("value").c.value
    return insert(table).from_select(names, select(*(func.json_extract(rows, f"$.{name}") for name in names)))
