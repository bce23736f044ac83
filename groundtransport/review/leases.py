"""Leases of the review queue: one INSERT takes a record, so that two people, in two processes, never get the same."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from groundtransport.db import now, table_of
from groundtransport.review.models import ReviewLease

LEASE = timedelta(minutes=10)
SKIPPED = timedelta(days=1)  # a skipped record comes again after that time

_LEASES = table_of(ReviewLease).c


def is_free(kind: str, record_id: ColumnElement[int], user_id: int) -> ColumnElement[bool]:
    """Return the condition that nobody but the user has a lease on a record, and that it was not skipped lately."""
    is_others = or_(_LEASES.user_id.is_(None), _LEASES.user_id != user_id)
    leased = select(_LEASES.record_id).where(
        _LEASES.kind == kind, _LEASES.record_id == record_id, _LEASES.leased_until > now(), is_others
    )
    return ~leased.exists()


def take(dbsession: Session, kind: str, record_id: int, user_id: int) -> bool:
    """Take, or extend, the lease on a record; return False if somebody else has it, or skipped it lately."""
    return _store(dbsession, kind, record_id, user_id, now() + LEASE)


def skip(dbsession: Session, kind: str, record_id: int, user_id: int) -> None:
    """Give a record to nobody for a day, unless somebody else has it."""
    if take(dbsession, kind, record_id, user_id):
        _store(dbsession, kind, record_id, user_id, now() + SKIPPED, is_skipped=True)


def release(dbsession: Session, kind: str, record_id: int) -> None:
    """End the lease on a record, and remove those that ended."""
    is_record = (_LEASES.kind == kind) & (_LEASES.record_id == record_id)
    dbsession.execute(delete(ReviewLease).where(or_(is_record, _LEASES.leased_until < now())))


def _store(
    dbsession: Session, kind: str, record_id: int, user_id: int, until: datetime, *, is_skipped: bool = False
) -> bool:
    """Insert the lease, or replace one that has ended or is the user's; return False if there is another one."""
    values = {"user_id": None if is_skipped else user_id, "leased_until": until}
    dialect = sqlite if dbsession.get_bind().dialect.name == "sqlite" else postgresql
    insert = dialect.insert(ReviewLease).values(kind=kind, record_id=record_id, **values)
    is_replaced = or_(_LEASES.leased_until <= now(), _LEASES.user_id == user_id)
    keys = ["kind", "record_id"]
    taken = insert.on_conflict_do_update(index_elements=keys, set_=values, where=is_replaced)
    return dbsession.execute(taken.returning(_LEASES.record_id)).first() is not None
