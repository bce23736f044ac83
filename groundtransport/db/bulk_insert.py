"""Insert many rows of one table with the quickest statement of each database. It publishes no events.

Only the writer of records, the activity log, and the loading of cities, which are not logged, may use it.
"""

from collections.abc import Callable, Sequence
from functools import cache

import orjson
from sqlalchemy import JSON, Column, Dialect, Insert, Table, Text, bindparam, cast, column, func, insert, select, text
from sqlalchemy.orm import Session


def next_ids(session: Session, table: Table, number: int) -> Sequence[int]:
    """Return the ids of the next ``number`` rows in ascending order, reserved for the caller."""
    if session.get_bind().dialect.name == "postgresql":
        sequence = func.pg_get_serial_sequence(table.name, "id")
        ids = select(func.nextval(sequence)).select_from(func.generate_series(1, number))
        return sorted(session.scalars(ids))
    # The transaction holds SQLite's write lock; inserting a row with an explicit id advances the sequence.
    last = session.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name}) or 0
    return range(last + 1, last + 1 + number)


def insert_rows(session: Session, table: Table, rows: Sequence[dict[str, object]]) -> None:
    """Insert rows, dictionaries with the same column names as keys. A column's default is computed once for all rows.

    Several rows are sent as one statement with one JSON parameter. On PostgreSQL this takes one round trip and runs
    each trigger once; on SQLite it releases Python's lock for other threads.
    """
    if len(rows) < 2:
        session.execute(_insert(table), rows)
        return
    names = tuple(rows[0])
    dialect = session.get_bind().dialect
    converters = {name: convert for name in names if (convert := _converter(table.c[name], dialect))}
    converted = [{**row, **{name: convert(row[name]) for name, convert in converters.items()}} for row in rows]
    session.execute(_insert_all(table, names, dialect.name), {"rows": orjson.dumps(converted).decode()})


def _converter(table_column: Column[object], dialect: Dialect) -> Callable[[object], object] | None:
    """Return the function that converts a column's Python values for the database; None if none is needed."""
    convert: Callable[[object], object] | None = table_column.type.dialect_impl(dialect).bind_processor(dialect)
    return convert


@cache
def _insert(table: Table) -> Insert:
    return insert(table)


@cache
def _insert_all(table: Table, names: tuple[str, ...], dialect: str) -> Insert:
    """Return the statement that inserts the rows of the JSON array in the parameter ``rows``."""
    rows = bindparam("rows", type_=Text())
    if dialect == "postgresql":
        columns = [column(name, table.c[name].type) for name in names]
        recordset = func.json_to_recordset(cast(rows, JSON)).table_valued(*columns, name="recordset")
        return insert(table).from_select(names, select(*recordset.render_derived(with_types=True).c))
    row = func.json_each(rows).table_valued("value").c.value
    return insert(table).from_select(names, select(*(func.json_extract(row, f"$.{name}") for name in names)))
