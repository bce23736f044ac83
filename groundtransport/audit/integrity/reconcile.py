"""Compare the activity log with the records and the users, by queries in the database."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Subquery, and_, case, func, not_, or_, select, union
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser
from groundtransport.audit.integrity import replay
from groundtransport.audit.models import ARCHIVE, AdminActivity, AuditMark
from groundtransport.records.kind import Kind
from groundtransport.security_log.events import Event
from groundtransport.security_log.models import SecurityEvent


def reconcile(dbsession: Session, kinds: Mapping[str, Kind]) -> list[str]:
    """Return a message for each disagreement between the log and the records or users.

    A record must have one create entry and one update entry for each version after the first, and must be deleted or
    live as its last deletion or restoration says; records with archived entries are exempt from this. Each field must
    have the value of the last entry that contains it. Each user must have the name in their entries and sign-ins.
    """
    begin = dbsession.scalar(select(func.max(AuditMark.archived_until)).where(AuditMark.reason == ARCHIVE))
    messages: list[str] = []
    for kind in kinds.values():
        messages += _unlogged(dbsession, kind, begin)
        messages += _unrecorded(dbsession, kind)
        messages += replay.disagreements(dbsession, kind)
    return [*messages, *_renamed(dbsession)]


def uninstalled(dbsession: Session, kinds: Collection[str]) -> list[str]:
    """Return a sentence for each kind in the log that is none of ``kinds``, with the number of its records there.

    Its records cannot be compared: neither their fields nor their table are known.
    """
    entry = AdminActivity
    query = select(entry.kind, func.count(entry.record_id.distinct())).where(entry.kind.not_in(list(kinds)))
    counts = dbsession.execute(query.group_by(entry.kind).order_by(entry.kind))
    return [
        f"{name}: this kind is not installed; records in the log: {count:,}, not compared" for name, count in counts
    ]


def _renamed(dbsession: Session) -> Iterator[str]:
    """Yield a message for each user who has no row, or another name than in the log: the service causes neither."""
    entries = select(AdminActivity.actor_id.label("id"), AdminActivity.actor.label("name"))
    sign_ins = select(SecurityEvent.user_id, SecurityEvent.name).where(SecurityEvent.event == Event.SIGN_IN)
    log = union(entries.where(AdminActivity.actor_id.is_not(None)), sign_ins).subquery()
    query = select(log.c.id, log.c.name, AdminUser.name).outerjoin(AdminUser, AdminUser.id == log.c.id)
    wrong = or_(AdminUser.id.is_(None), AdminUser.name != log.c.name)
    for user_id, logged_name, name in dbsession.execute(query.where(wrong).order_by(log.c.id, log.c.name)):
        account = f"is named {name} now" if name else "has no account"
        yield f"user {user_id}: {account}, and the log says {logged_name}"


def _counts(kind: Kind) -> Subquery:
    """Return a subquery with the number of entries of each action, by record."""

    def number(*actions: str) -> ColumnElement[int]:
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


def _unlogged(dbsession: Session, kind: Kind, begin: datetime | None) -> list[str]:
    """Return a message for each record whose numbers of entries do not match its state.

    Records created before ``begin``, the end of the archived part, are left out.
    """
    model, log = kind.model, _counts(kind)
    is_deleted = case((not_(model.is_live()), 1), else_=0)
    agrees = and_(
        log.c.created == 1,
        log.c.updated == model.version - 1,
        log.c.deleted - log.c.restored == is_deleted,
        log.c.purged == 0,
    )
    wrong = or_(log.c.record_id.is_(None), not_(agrees))
    query = select(model.id).outerjoin(log, log.c.record_id == model.id).where(wrong)
    if begin is not None:
        query = query.where(model.created_at > begin)
    ids = dbsession.scalars(query.order_by(model.id))
    return [f"{kind.name} {record_id}: the log does not account for it as it is" for record_id in ids]


def _unrecorded(dbsession: Session, kind: Kind) -> list[str]:
    """Return a message for each record that is in the log, but has no row, and whose removal is not in the log."""
    model, log = kind.model, _counts(kind)
    removed = log.c.purged == 1 if hasattr(model, "deleted_at") else log.c.deleted == 1
    missing = (
        select(log.c.record_id).outerjoin(model, model.id == log.c.record_id).where(model.id.is_(None), not_(removed))
    )
    ids = dbsession.scalars(missing.order_by(log.c.record_id))
    return [f"{kind.name} {record_id}: is in the log, and is gone" for record_id in ids]
