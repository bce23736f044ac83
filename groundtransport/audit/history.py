"""What the log tells to views that may not know it: what a record said before, and what a batch did."""

from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from sqlalchemy import select

from groundtransport.audit.models import AdminActivity
from groundtransport.records.kind import Kind


def values_at(request: Request, kind: Kind, row: Any, version: int) -> dict[str, Any] | None:
    """Return the fields' values at an earlier version; None when there was none such or the log no longer tells."""
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
    """Return who changed a record last, and when: a row with ``actor`` and ``at``; None when the log is silent."""
    query = select(AdminActivity.actor, AdminActivity.at).where(
        AdminActivity.kind == kind.name, AdminActivity.record_id == row.id
    )
    return request.dbsession.execute(query.order_by(AdminActivity.id.desc()).limit(1)).one_or_none()


def batch_entries(request: Request, kind: Kind, batch: str) -> Sequence[Any]:
    """Return a batch's entries of one kind, oldest first: rows with ``id, record_id, action, changes``."""
    wanted = (AdminActivity.id, AdminActivity.record_id, AdminActivity.action, AdminActivity.changes)
    query = select(*wanted).where(AdminActivity.batch == batch, AdminActivity.kind == kind.name)
    return request.dbsession.execute(query.order_by(AdminActivity.id)).all()


def changed_since(request: Request, kind: Kind, entries: Sequence[Any]) -> set[int]:
    """Return the ids of the records that changed again after the last of these entries."""
    if not entries:
        return set()
    query = select(AdminActivity.record_id).where(
        AdminActivity.kind == kind.name,
        AdminActivity.record_id.in_({entry.record_id for entry in entries}),
        AdminActivity.id > entries[-1].id,
    )
    return set(request.dbsession.scalars(query))
