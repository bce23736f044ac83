"""Read which links are due for a check, and which records hold a link."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Engine, and_, case, func, literal, or_, select

from groundtransport.db import AnyRow, AnySelect, UTCDateTime, autocommit_engine
from groundtransport.db.functions import sort_text
from groundtransport.indexes import sort_key
from groundtransport.links.judging import RETRY
from groundtransport.links.models import LinkCheck
from groundtransport.links.results import Holder
from groundtransport.records.kind import Kind
from groundtransport.records.links import LinkState, link_fields

Kinds = Mapping[str, Kind]
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def due_links(engine: Engine, kinds: Kinds, at: datetime, older_than: timedelta, limit: int | None) -> list[str]:
    """Return the links that are due, each once: first those that were never checked, then the oldest results."""
    oldest: dict[str, datetime] = {}
    with autocommit_engine(engine).connect() as connection:
        for kind, field in _fields(kinds):
            for url, checked_at in connection.execute(_due(kind, field, at, older_than).limit(limit)):
                oldest[url] = min(checked_at, oldest.get(url, checked_at))
    return sorted(oldest, key=lambda url: oldest[url])[:limit]


def holders(engine: Engine, kinds: Kinds, link: str) -> tuple[list[Holder], AnyRow | None]:
    """Return the records that hold a link, and its last result, if there is one."""
    found, rows = [], []
    with autocommit_engine(engine).connect() as connection:
        for kind, field in _fields(kinds):
            table, check = kind.model.__table__, LinkCheck.__table__
            query = select(table.c.id, *check.c).select_from(table.outerjoin(check, _is_result(kind, field)))
            for row in connection.execute(query.where(kind.model.is_live(), *_equals(table.c[field], link))):
                found.append(Holder(kind.name, row[0], field))
                rows += [row] if row.checked_at else []
    return found, max(rows, key=lambda row: row.checked_at, default=None)


def _equals(column: ColumnElement[str], link: str) -> list[ColumnElement[bool]]:
    """Return the conditions that a column is equal to a link; the first uses the index of the column's sort."""
    key = sort_key(column)
    by_index = [key == type(key)(literal(link))] if isinstance(key, sort_text) else []
    return [*by_index, column == link]


def void(engine: Engine, kinds: Kinds) -> list[Holder]:
    """Return the results whose record no longer holds a link, or is gone."""
    found = []
    with autocommit_engine(engine).connect() as connection:
        for kind, field in _fields(kinds):
            check, table = LinkCheck.__table__.c, kind.model.__table__
            joined = LinkCheck.__table__.outerjoin(table, table.c.id == check.record_id)
            is_void = (check.kind == kind.name, check.field == field, table.c[field].is_(None))
            ids = connection.scalars(select(check.record_id).select_from(joined).where(*is_void))
            found += [Holder(kind.name, record_id, field) for record_id in ids]
    return found


def _fields(kinds: Kinds) -> Iterator[tuple[Kind, str]]:
    for kind in kinds.values():
        for field in link_fields(kind):
            yield kind, field


def _is_result(kind: Kind, field: str) -> ColumnElement[bool]:
    """Return the condition that a check is the result of a record's link as it is."""
    check, table = LinkCheck.__table__.c, kind.model.__table__.c
    is_own = (check.kind == kind.name, check.field == field, check.record_id == table.id)
    return and_(*is_own, check.url == table[field])


def _due(kind: Kind, field: str, at: datetime, older_than: timedelta) -> AnySelect:
    """Return the SELECT of the due links of a field and of the time of their oldest result, oldest first."""
    check, column = LinkCheck.__table__.c, kind.model.__table__.c[field]
    pause = case(
        (check.state == LinkState.FAILING, literal(at - min(RETRY, older_than), UTCDateTime())),
        else_=literal(at - older_than, UTCDateTime()),
    )
    is_due = or_(check.checked_at.is_(None), check.checked_at <= pause)
    oldest: ColumnElement[datetime] = func.min(
        func.coalesce(check.checked_at, literal(NEVER, UTCDateTime())), type_=UTCDateTime()
    )
    query = select(column, oldest).select_from(
        kind.model.__table__.outerjoin(LinkCheck.__table__, _is_result(kind, field))
    )
    return query.where(kind.model.is_live(), column.is_not(None), is_due).group_by(column).order_by(oldest, column)
