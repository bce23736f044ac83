"""Request methods for views of records: earlier versions, last changes and batches, read from the activity log."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, not_, select

from groundtransport.audit.models import AdminActivity
from groundtransport.events import CHANGING, NOTES, RecordVerified, Value
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.request import Request


def values_at(request: Request, kind: Kind, row: RecordColumns, version: int) -> dict[str, Value] | None:
    """Return the fields' values of a record at an earlier version.

    Return None if there is no such version, or if some of the later updates are archived.
    """
    if not 0 < version <= row.version:
        return None
    query = select(AdminActivity.changes).where(
        AdminActivity.kind == kind.name,
        AdminActivity.record_id == row.id,
        AdminActivity.action == "update",
        AdminActivity.version > version,
    )
    updates = request.dbsession.scalars(query.order_by(AdminActivity.id.desc())).all()
    if len(updates) != row.version - version:
        return None
    values = {name: getattr(row, name) for name in kind.fields}
    for changes in updates:
        values |= {name: pair["old"] for name, pair in changes.items() if name in values}
    return values


def last_change(request: Request, kind: Kind, row: RecordColumns) -> Row[str, datetime] | None:
    """Return the last change of a record, an entry with ``actor`` and ``at``; None if it has none."""
    query = select(AdminActivity.actor, AdminActivity.at).where(
        AdminActivity.kind == kind.name,
        AdminActivity.record_id == row.id,
        AdminActivity.action.in_(CHANGING),
    )
    return request.dbsession.execute(query.order_by(AdminActivity.id.desc()).limit(1)).one_or_none()


def last_verification(request: Request, kind: Kind, row: RecordColumns) -> dict[str, Value] | None:
    """Return the changes of a record's last verification, as the log holds them; None if it has none."""
    query = select(AdminActivity.changes).where(
        AdminActivity.kind == kind.name,
        AdminActivity.record_id == row.id,
        AdminActivity.action == RecordVerified.action,
    )
    changes: dict[str, Value] | None = request.dbsession.scalar(query.order_by(AdminActivity.id.desc()).limit(1))
    return changes


def batch_entries(request: Request, kind: Kind, batch: str) -> Sequence[Row[int, int, str, dict[str, object]]]:
    """Return the entries of a batch and a kind, oldest first: rows with ``id, record_id, action, changes``."""
    columns = (AdminActivity.id, AdminActivity.record_id, AdminActivity.action, AdminActivity.changes)
    query = select(*columns).where(AdminActivity.batch == batch, AdminActivity.kind == kind.name)
    return request.dbsession.execute(query.order_by(AdminActivity.id)).all()


def changed_since(request: Request, kind: Kind, entries: Sequence[Row[int, int, str, dict[str, object]]]) -> set[int]:
    """Return the ids of the entries' records that were changed again after the last of these entries.

    A verification counts as a change only for a batch of verifications, and other changes do not count for it.
    """
    if not entries:
        return set()
    verification = AdminActivity.action == RecordVerified.action
    is_verification = entries[-1].action == RecordVerified.action
    query = select(AdminActivity.record_id).where(
        AdminActivity.kind == kind.name,
        AdminActivity.action.not_in(NOTES),
        AdminActivity.record_id.in_({entry.record_id for entry in entries}),
        AdminActivity.id > entries[-1].id,
        verification if is_verification else not_(verification),
    )
    return set(request.dbsession.scalars(query))
