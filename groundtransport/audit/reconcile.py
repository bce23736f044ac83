"""Do the log, the records and the people agree? Asks them all, in the database."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import and_, case, func, not_, or_, select, union
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser
from groundtransport.audit import replay
from groundtransport.audit.models import ARCHIVE, AdminActivity, AuditMark
from groundtransport.security_log.events import Event
from groundtransport.security_log.models import SecurityEvent


def reconcile(dbsession: Session, kinds: Mapping[str, Any]) -> list[str]:
    """Return where the log disagrees with the records and with the people, in words; nothing when they agree.

    For each record: one create entry, an update entry for each version after the first, and the last of its deletions
    and restorations is what it is now; records whose entries were archived in part are left out of that. Each field is
    what the last entry that names it says. Each person has the name that their entries and sign-ins bear.
    """
    begin = dbsession.scalar(select(func.max(AuditMark.archived_until)).where(AuditMark.reason == ARCHIVE))
    found: list[str] = []
    for kind in kinds.values():
        found += _unlogged(dbsession, kind, begin)
        found += _unrecorded(dbsession, kind, begin)
        found += replay.disagreements(dbsession, kind)
    return [*found, *_renamed(dbsession)]


def _renamed(dbsession: Session) -> Iterator[str]:
    """People whose account has another name than their entries and sign-ins, or is gone. The service does neither."""
    entries = select(AdminActivity.actor_id.label("id"), AdminActivity.actor.label("name"))
    sign_ins = select(SecurityEvent.user_id, SecurityEvent.name).where(SecurityEvent.event == Event.SIGN_IN)
    log = union(entries.where(AdminActivity.actor_id.is_not(None)), sign_ins).subquery()
    query = select(log.c.id, log.c.name, AdminUser.name).outerjoin(AdminUser, AdminUser.id == log.c.id)
    wrong = or_(AdminUser.id.is_(None), AdminUser.name != log.c.name)
    for number, name, there in dbsession.execute(query.where(wrong).order_by(log.c.id, log.c.name)):
        account = f"is named {there} now" if there else "has no account"
        yield f"user {number}: {account}, and the log says {name}"


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
