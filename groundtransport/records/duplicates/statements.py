"""The statements of the tables of doubles. Many rows are sent as one JSON parameter, which takes one round trip."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache

import orjson
from sqlalchemy import Result, Text, TextClause, bindparam, text
from sqlalchemy.orm import Session

from groundtransport.db import AnyRow, plan_options
from groundtransport.records.duplicates.models import OPEN, REJECTED

ADD_KEYS = "INSERT INTO duplicate_key (key, record_id) SELECT {0}, {1} FROM {rows} WHERE true ON CONFLICT DO NOTHING"
DROP_KEYS = "DELETE FROM duplicate_key WHERE (key, record_id) IN (SELECT {0}, {1} FROM {rows})"
ADD_PAIRS = """
INSERT INTO duplicate_pair (kind, first_id, second_id, airport_code, state, score, reasons)
SELECT {0}, {1}, {2}, {3}, {4}, {5}, {6} FROM {rows} WHERE true ON CONFLICT DO NOTHING
"""
# Two ranges of indexes in a subquery: with OR, or with UNION alone, the whole table would be read. CROSS JOIN makes
# SQLite begin with the rows, and INDEXED BY keep off an index of all pairs of a kind, which has all columns.
DROP_PAIRS = """
DELETE FROM duplicate_pair WHERE (kind, first_id, second_id) IN (SELECT kind, first_id, second_id FROM (
    SELECT p.kind, p.first_id, p.second_id FROM {rows}
    CROSS JOIN duplicate_pair AS p WHERE p.kind = {0} AND p.first_id = {1}
    UNION
    SELECT p.kind, p.first_id, p.second_id FROM {rows}
    CROSS JOIN duplicate_pair AS p {by_second} WHERE p.kind = {0} AND p.second_id = {1}
) AS of_records)
"""
BY_SECOND = {"sqlite": "INDEXED BY ix_duplicate_pair_second", "postgresql": ""}
DROP_OPEN_PAIRS = f"{DROP_PAIRS} AND state <> {REJECTED}"
DROP_GIVEN_PAIRS = """
DELETE FROM duplicate_pair WHERE (kind, first_id, second_id, state) IN (SELECT {0}, {1}, {2}, {3} FROM {rows})
"""
FIND_PAIRS = """
SELECT p.first_id, p.second_id FROM {rows}
CROSS JOIN duplicate_pair AS p WHERE p.kind = {0} AND p.first_id = {1} AND p.state = {2}
"""
DROP_SOME_PAIRS = """
DELETE FROM duplicate_pair WHERE (kind, first_id, second_id) IN
(SELECT kind, first_id, second_id FROM duplicate_pair WHERE kind = :kind AND state <> :rejected LIMIT :most)
RETURNING first_id
"""
# The newest 20 records that have a key: that limits the time of a save.
NEWEST = "SELECT record_id FROM duplicate_key WHERE key = k.key ORDER BY record_id DESC LIMIT 20"
SOUGHT = "SELECT k.key, d.record_id FROM (SELECT {0} AS key FROM {rows}) AS k "
FIND = {
    "sqlite": SOUGHT + "JOIN duplicate_key AS d ON d.key = k.key AND d.record_id IN (" + NEWEST + ")",
    "postgresql": SOUGHT + "CROSS JOIN LATERAL (" + NEWEST + ") AS d",
}
BIG, SMALL, TEXT = "bigint", "smallint", "text"
PAIR = (TEXT, BIG, BIG, TEXT, SMALL, SMALL, TEXT)

Key = tuple[int, int]  # the hash, and a record's id


def add_keys(dbsession: Session, keys: Collection[Key]) -> None:
    """Insert the keys of records, except those that are there."""
    _execute(dbsession, ADD_KEYS, keys, BIG, BIG)


def drop_keys(dbsession: Session, keys: Collection[Key]) -> None:
    """Delete keys of records."""
    _execute(dbsession, DROP_KEYS, keys, BIG, BIG)


def find_keys(dbsession: Session, keys: Iterable[int]) -> Sequence[AnyRow]:
    """Return rows ``key, record_id``: the newest records that have each key."""
    return _run(dbsession, FIND[_dialect(dbsession)], [(key,) for key in keys], BIG).all()


def add_pairs(dbsession: Session, pairs: Collection[tuple[object, ...]]) -> None:
    """Insert pairs, in the order of the table's columns, except those that are there, open or rejected."""
    _execute(dbsession, ADD_PAIRS, pairs, *PAIR)


def find_pairs(dbsession: Session, kind: str, first_ids: Collection[int]) -> Sequence[AnyRow]:
    """Return rows ``first_id, second_id``: the open pairs, at one airport, with some first records."""
    rows = [(kind, number, OPEN) for number in sorted(first_ids)]
    return _run(dbsession, FIND_PAIRS, rows, TEXT, BIG, SMALL).all() if rows else ()


def drop_given_pairs(dbsession: Session, kind: str, pairs: Collection[tuple[int, ...]]) -> None:
    """Delete open pairs, each of the ids of two records."""
    _execute(dbsession, DROP_GIVEN_PAIRS, [(kind, *pair, OPEN) for pair in pairs], TEXT, BIG, BIG, SMALL)


def drop_open_pairs(dbsession: Session, kind: str, ids: Collection[int]) -> None:
    """Delete the open pairs of records."""
    _execute(dbsession, DROP_OPEN_PAIRS, [(kind, number) for number in ids], TEXT, BIG)


def drop_pairs(dbsession: Session, kind: str, ids: Collection[int]) -> None:
    """Delete all pairs of records whose rows are removed."""
    _execute(dbsession, DROP_PAIRS, [(kind, number) for number in ids], TEXT, BIG)


def drop_some_pairs(dbsession: Session, kind: str, most: int) -> bool:
    """Delete up to ``most`` open pairs of a kind; return False if there were none."""
    dropped = dbsession.execute(text(DROP_SOME_PAIRS), {"kind": kind, "rejected": REJECTED, "most": most}).all()
    return bool(dropped)


def _execute(dbsession: Session, form: str, rows: Collection[tuple[object, ...]], *types: str) -> None:
    if rows:
        _run(dbsession, form, sorted(rows), *types)


def _run(dbsession: Session, form: str, rows: Sequence[tuple[object, ...]], *types: str) -> Result[tuple[int, int]]:
    statement, parameters = _statement(_dialect(dbsession), form, *types), {"rows": orjson.dumps(rows).decode()}
    return dbsession.execute(statement, parameters, execution_options=plan_options(len(rows)))


def _dialect(dbsession: Session) -> str:
    return str(dbsession.get_bind().dialect.name)


@cache
def _statement(dialect: str, form: str, *types: str) -> TextClause:
    """Return a statement: ``{rows}`` in ``form`` stands for the rows, ``{0}``, ``{1}`` and so on for their columns."""
    if dialect == "sqlite":
        rows, columns = "json_each(:rows) AS r", [f"json_extract(r.value, '$[{i}]')" for i in range(len(types))]
    else:
        rows = "json_array_elements(CAST(:rows AS json)) AS r"
        columns = [f"CAST(r.value ->> {i} AS {kind})" for i, kind in enumerate(types)]
    return text(form.format(*columns, rows=rows, by_second=BY_SECOND[dialect])).bindparams(
        bindparam("rows", type_=Text)
    )
