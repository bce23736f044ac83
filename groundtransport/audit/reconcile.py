"""Do the log and the records agree? Asks both, in the database."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, case, func, not_, or_, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import ARCHIVE, AdminActivity, AuditMark


def reconcile(dbsession: Session, kinds: Mapping[str, Any]) -> list[str]:
    """Return where the log and the records disagree, in words; nothing when they agree.

    For each record: one create entry, an update entry for each version after the first, and the last of its deletions
    and restorations is what it is now. Records whose entries were archived in part are left out.
    """
    begin = dbsession.scalar(select(func.max(AuditMark.archived_until)).where(AuditMark.reason == ARCHIVE))
    found: list[str] = []
    for kind in kinds.values():
        found += _unlogged(dbsession, kind, begin)
        found += _unrecorded(dbsession, kind, begin)
    return found


def _counts(kind: Any) -> Any:
    def number(*actions: str) -> Any:
        return func.sum(case((AdminActivity.action.in_(actions), 1), else_=0))

    return (
        select(
            AdminActivity.record_id.label("record_id"),
            number("create").label("created"),
            number("update").label("updated"),
            number("delete").label("deleted"),
            number("restore").label("restored"),
            number("purge").label("purged"),
        )
        .where(AdminActivity.kind == kind.name)
        .group_by(AdminActivity.record_id)
        .subquery()
    )


def _unlogged(dbsession: Session, kind: Any, begin: Any) -> list[str]:
    """Records whose entries are not what they should be."""
    model, log = kind.model, _counts(kind)
    gone = case((not_(model.is_live()), 1), else_=0)
    agrees = and_(
        log.c.created == 1,
        log.c.updated == model.version - 1,
        log.c.deleted - log.c.restored == gone,
        log.c.purged == 0,
    )
    wrong = or_(log.c.record_id.is_(None), not_(agrees))
    query = select(model.id).outerjoin(log, log.c.record_id == model.id).where(wrong)
    if begin is not None:
        query = query.where(model.created_at > begin)
    ids = dbsession.scalars(query.order_by(model.id))
    return [f"{kind.name} {record_id}: the log does not account for it as it is" for record_id in ids]


def _unrecorded(dbsession: Session, kind: Any, begin: Any) -> list[str]:
    """Entries of records that are not there, though the log does not say that they went."""
    model, log = kind.model, _counts(kind)
    went = log.c.purged == 1 if hasattr(model, "deleted_at") else log.c.deleted == 1
    missing = (
        select(log.c.record_id).outerjoin(model, model.id == log.c.record_id).where(model.id.is_(None), not_(went))
    )
    ids = dbsession.scalars(missing.order_by(log.c.record_id))
    return [f"{kind.name} {record_id}: is in the log, and is gone" for record_id in ids]
