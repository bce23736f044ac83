"""The condition that the check of a record's link ended in a state."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, Text, and_, column, exists, func, literal, or_, select, table

from groundtransport.records.kind import Kind
from groundtransport.records.links import LinkState, link_fields

# The model stands above this package, which only reads these columns.
_CHECK = table(
    "link_check", column("kind", Text()), column("record_id"), column("field"), column("url"), column("state", Text())
)


def has_link_state(kind: Kind, state: str) -> ColumnElement[bool]:
    """Return the condition that the result of one of a record's links is ``state``.

    The result of a link that was changed since does not count. Few results are read by their state; NEVER, which has
    none, by the record.
    """
    one = _has_no_result if state == LinkState.NEVER else _has_result
    return or_(*(one(kind, field, state) for field in link_fields(kind)))


def count_link_states(kind: Kind, field: str, states: Sequence[str]) -> Select[str, int]:
    """Return the SELECT of the numbers of live records by those states of the results of a field's links."""
    record = kind.model.__table__
    joined = _CHECK.join(record, and_(record.c.id == _CHECK.c.record_id, record.c[field] == _CHECK.c.url))
    counted = (*_of_field(kind, field), _CHECK.c.state.in_(states), kind.model.is_live())
    return select(_CHECK.c.state, func.count()).select_from(joined).where(*counted).group_by(_CHECK.c.state)


def _has_result(kind: Kind, field: str, state: str) -> ColumnElement[bool]:
    linked = table(kind.table, column("id"), column(field)).alias("linked")
    joined = _CHECK.join(linked, and_(linked.c.id == _CHECK.c.record_id, linked.c[field] == _CHECK.c.url))
    is_state = (*_of_field(kind, field), _CHECK.c.state == literal(state))
    return kind.model.__table__.c.id.in_(select(_CHECK.c.record_id).select_from(joined).where(*is_state))


def _has_no_result(kind: Kind, field: str, state: str) -> ColumnElement[bool]:
    columns = kind.model.__table__.c
    is_result = (_CHECK.c.record_id == columns.id, _CHECK.c.url == columns[field])
    return and_(columns[field].is_not(None), ~exists().where(*_of_field(kind, field), *is_result))


def _of_field(kind: Kind, field: str) -> tuple[ColumnElement[bool], ...]:
    return _CHECK.c.kind == literal(kind.name), _CHECK.c.field == literal(field)
