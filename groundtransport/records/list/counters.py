"""Read the numbers of records from the counter tables, which triggers maintain.

``RecordCount`` and ``RecordBlock`` hold the totals, ``RecordChange`` the changes since that are not yet added to these.
"""

from functools import cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, String, bindparam, func, select, union_all
from sqlalchemy.orm import Session

from groundtransport.db import AnySelect
from groundtransport.db.statement_cache import cached_statement
from groundtransport.indexes import BLOCK, RecordBlock, RecordChange, RecordCount, spec_of
from groundtransport.indexes.counter_tables import ALL, DELETED, NO_BLOCK
from groundtransport.records.kind import Kind

Name = str | BindParameter[str]

# Tables, not models: SQLAlchemy compiles these faster.
_COUNT, _BLOCK, _CHANGE = (model.__table__.c for model in (RecordCount, RecordBlock, RecordChange))


def live_count(table: str, airport_code: Name = ALL, choice: Name = ALL) -> ColumnElement[int]:
    """Return the number of a kind's live records with this airport and choice, as an SQL expression.

    With DELETED as the airport it is the number of softly deleted records.
    """
    count = select(_COUNT.n).where(_COUNT.kind == table, _COUNT.airport_code == airport_code, _COUNT.choice == choice)
    code = _CHANGE.airport_code
    conditions = [_CHANGE.kind == table, _CHANGE.block == NO_BLOCK]
    conditions.append(code != DELETED if _is_all(airport_code) else code == airport_code)
    if not _is_all(choice):
        conditions.append(_CHANGE.choice == choice)
    since = select(func.sum(_CHANGE.n)).where(*conditions)
    return func.coalesce(count.scalar_subquery(), 0) + func.coalesce(since.scalar_subquery(), 0)


def _is_all(name: Name) -> bool:
    return isinstance(name, str) and name == ALL


def name_params(code: str, choice: str) -> tuple[Name, Name]:
    """Return the arguments of ``live_count`` in a cached statement: ALL, or a bind parameter (``code``, ``choice``)."""
    return (code if code == ALL else bindparam("code", type_=String())), (
        choice if choice == ALL else bindparam("choice", type_=String())
    )


@cache
def _total(table: str, airport_code: str) -> AnySelect:
    return select(live_count(table, airport_code))


def total(dbsession: Session, kind: Kind, *, deleted: bool = False) -> int:
    """Return how many live (or deleted) records a kind has."""
    return int(dbsession.scalar(_total(kind.table, DELETED if deleted else ALL)) or 0)


def fetch_counts(dbsession: Session, kind: Kind, code: str, choice: str) -> tuple[int, int]:
    """Return the number of all live (or deleted) records, and of those with this airport and choice."""
    deleted = DELETED if code == DELETED else ALL
    shape = ("both", kind.table, deleted, code == ALL, choice == ALL)

    def make() -> AnySelect:
        number: Any = live_count(kind.table, *name_params(code, choice)).label("number")
        return select(live_count(kind.table, deleted).label("total"), number)

    row = dbsession.execute(cached_statement(shape, make), {"code": code, "choice": choice}).one()
    return int(row.total), int(row.number)


def counts_by_airport(dbsession: Session, kind: Kind) -> list[tuple[str, int]]:
    """Return the airports that have live records of a kind, as pairs of code and number."""
    table = kind.table
    counted = (_COUNT.kind == table, _COUNT.choice == ALL, _COUNT.airport_code.not_in((ALL, DELETED)))
    since = (_CHANGE.kind == table, _CHANGE.block == NO_BLOCK, _CHANGE.airport_code != DELETED)
    both = union_all(
        select(_COUNT.airport_code.label("name"), _COUNT.n).where(*counted),
        select(_CHANGE.airport_code, _CHANGE.n).where(*since),
    ).subquery()
    return _summed(dbsession, both)


def counts_by_choice(dbsession: Session, kind: Kind, field: str) -> dict[object, int]:
    """Return the number of live records by value of a field; count them if the counters do not cover the field."""
    spec = spec_of(kind.model.__table__)
    if spec is None or spec.counted_by != field:
        column = kind.model.__table__.c[field]
        grouped = select(column, func.count()).where(kind.model.is_live()).group_by(column)
        return {"" if value is None else value: number for value, number in dbsession.execute(grouped)}
    table = kind.table
    counted = (_COUNT.kind == table, _COUNT.airport_code == ALL, _COUNT.choice != ALL)
    since = (_CHANGE.kind == table, _CHANGE.block == NO_BLOCK, _CHANGE.airport_code != DELETED)
    both = union_all(
        select(_COUNT.choice.label("name"), _COUNT.n).where(*counted),
        select(_CHANGE.choice, _CHANGE.n).where(*since),
    ).subquery()
    return dict(_summed(dbsession, both))


def _summed(dbsession: Session, numbers: Any) -> list[tuple[str, int]]:
    summed = func.sum(numbers.c.n)
    rows = dbsession.execute(select(numbers.c.name, summed).group_by(numbers.c.name).having(summed > 0))
    return [(name, int(n)) for name, n in rows]


@cache
def _edge(table: str, *, descending: bool) -> AnySelect:
    """Return the statement of the block of ids that holds the record at ``offset``, and the number before the block."""
    blocks = union_all(
        select(_BLOCK.block, _BLOCK.n).where(_BLOCK.kind == table),
        select(_CHANGE.block, _CHANGE.n).where(_CHANGE.kind == table, _CHANGE.block >= 0),
    ).subquery()
    each = select(blocks.c.block, func.sum(blocks.c.n).label("n")).group_by(blocks.c.block).subquery()
    order = each.c.block.desc() if descending else each.c.block
    ranked = select(each.c.block, (func.sum(each.c.n).over(order_by=order) - each.c.n).label("before")).subquery()
    blocks_before = select(ranked.c.block, ranked.c.before).where(ranked.c.before <= bindparam("offset"))
    nearest = ranked.c.block if descending else ranked.c.block.desc()
    return blocks_before.order_by(ranked.c.before.desc(), nearest).limit(1)


def block_edge(dbsession: Session, kind: Kind, offset: int, *, descending: bool) -> tuple[int, int] | None:
    """Return an id to start from to reach the record at ``offset`` by id, and the remaining offset; None if empty."""
    row = dbsession.execute(_edge(kind.table, descending=descending), {"offset": offset}).one_or_none()
    if row is None:
        return None
    block, before = int(row[0]), int(row[1])
    return (block + 1) * BLOCK - 1 if descending else block * BLOCK, offset - before


@cache
def _whole_blocks(table: str, *, descending: bool) -> AnySelect:
    """Return the statement of the number of records in the blocks before ``block`` (after it, if descending)."""
    numbers = []
    for counted in (_BLOCK, _CHANGE):
        block = counted.block
        outside = block > bindparam("block") if descending else (block < bindparam("block")) & (block >= 0)
        numbers.append(select(func.sum(counted.n)).where(counted.kind == table, outside).scalar_subquery())
    return select(sum((func.coalesce(number, 0) for number in numbers[1:]), func.coalesce(numbers[0], 0)))


def count_before(dbsession: Session, kind: Kind, record_id: int, *, descending: bool) -> int:
    """Return the number of live records before this one in order of id."""
    block = record_id // BLOCK
    in_whole_blocks = int(dbsession.scalar(_whole_blocks(kind.table, descending=descending), {"block": block}) or 0)
    ids = kind.model.__table__.c.id
    beside = (
        (ids > record_id) & (ids < (block + 1) * BLOCK) if descending else (ids < record_id) & (ids >= block * BLOCK)
    )
    return in_whole_blocks + int(
        dbsession.scalar(select(func.count()).select_from(kind.model).where(kind.model.is_live(), beside)) or 0
    )
