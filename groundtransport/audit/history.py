"""Request methods for views of records: earlier versions, last changes and batches, read from the activity log."""

from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from sqlalchemy import select

from groundtransport.audit.models import AdminActivity
from groundtransport.records.kind import Kind


def values_at(request: Request, kind: Kind, row: Any, version: int) -> dict[str, Any] | None:
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


def last_change(request: Request, kind: Kind, row: Any) -> Any:
    """Return the last entry of a record, a row with ``actor`` and ``at``; None if it has no entry."""
    query = select(AdminActivity.actor, AdminActivity.at).where(
        AdminActivity.kind == kind.name, AdminActivity.record_id == row.id
    )
    return request.dbsession.execute(query.order_by(AdminActivity.id.desc()).limit(1)).one_or_none()


def batch_entries(request: Request, kind: Kind, batch: str) -> Sequence[Any]:
    """Return the entries of a batch and a kind, oldest first: rows with ``id, record_id, action, changes``."""
    columns = (AdminActivity.id, AdminActivity.record_id, AdminActivity.action, AdminActivity.changes)
    query = select(*columns).where(AdminActivity.batch == batch, AdminActivity.kind == kind.name)
    return request.dbsession.execute(query.order_by(AdminActivity.id)).all()


def changed_since(request: Request, kind: Kind, entries: Sequence[Any]) -> set[int]:
    """Return the ids of the entries' records that were changed again after the last of these entries."""
    if not entries:
        return set()
    query = select(AdminActivity.record_id).where(
        AdminActivity.kind == kind.name,
        AdminActivity.record_id.in_({entry.record_id for entry in entries}),
        AdminActivity.id > entries[-1].id,
    )
    return set(request.dbsession.scalars(query))
