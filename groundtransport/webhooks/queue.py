"""Take a webhook with a lease, make deliveries of new entries, and store how each attempt ended.

A webhook has one process at a time, so that deliveries of a record stay in order. No transaction is open while a
message is sent. The statements are the same on both databases.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, exists, func, insert, or_, select, update

from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.db import AnyRow, autocommit_engine, write_engine
from groundtransport.webhooks.messages import EVENTS
from groundtransport.webhooks.models import Delivery, Webhook
from groundtransport.webhooks.outcome import GIVE_UP_AFTER, Outcome

LEASE = timedelta(minutes=2)  # without a renewal; longer than a look-up of a name and a request
ENTRIES = 500  # of the activity log that are read at once
WAITING_MAX = 1000  # deliveries of a webhook that wait; more entries stay in the activity log
BATCH = 50  # deliveries in one turn
DONE_KEPT = 100  # deliveries of a webhook that are done
LOST = "lost"  # in place of a ``problem``
IDLE = timedelta(seconds=5)  # before a webhook is looked at again whose deliveries wait for others


@dataclass(frozen=True)
class Claim:
    """A webhook that ``owner`` has taken."""

    webhook_id: int
    owner: str
    url: str
    kinds: list[str]
    events: list[str]
    secret: str
    old_secret: str | None
    old_secret_until: datetime | None
    position: int


CLAIMED = (
    Webhook.id.label("webhook_id"),
    Webhook.url,
    Webhook.kinds,
    Webhook.events,
    Webhook.secret,
    Webhook.old_secret,
    Webhook.old_secret_until,
    Webhook.position,
)


def claim(engine: Engine, owner: str, at: datetime) -> Claim | None:
    """Take the webhook that waits longest and has something to do; None if there is none."""
    is_due = _is_due(at)
    with autocommit_engine(engine).connect() as connection:  # reads without a lock while there is nothing to do
        if connection.scalar(select(Webhook.id).where(is_due).limit(1)) is None:
            return None
    # PostgreSQL skips webhooks that another process is about to take; SQLite has one writer at a time.
    first = select(Webhook.id).where(is_due).order_by(Webhook.next_at, Webhook.id).limit(1)
    chosen = first.with_for_update(skip_locked=True).scalar_subquery()
    statement = update(Webhook).where(Webhook.id == chosen).values(owner=owner, leased_until=at + LEASE)
    with write_engine(engine).begin() as connection:
        row = connection.execute(statement.returning(*CLAIMED)).one_or_none()
    return Claim(owner=owner, **row._mapping) if row else None


def _is_due(at: datetime) -> ColumnElement[bool]:
    is_free = or_(Webhook.leased_until.is_(None), Webhook.leased_until < at)
    head = select(AuditHead.number).where(AuditHead.id == 1).scalar_subquery()
    waits = exists().where(Delivery.webhook_id == Webhook.id, Delivery.done_at.is_(None), Delivery.next_at <= at)
    return and_(Webhook.is_on, Webhook.next_at <= at, is_free, or_(Webhook.position < head, waits))


def renew(connection: Connection, taken: Claim, at: datetime, **values: object) -> bool:
    """Prolong the lease; return False if it was lost, or the webhook was switched off or removed.

    In the same transaction nobody else can take the webhook.
    """
    is_own = (Webhook.id == taken.webhook_id, Webhook.owner == taken.owner, Webhook.is_on)
    statement = update(Webhook).where(*is_own).values(leased_until=at + LEASE, **values)
    return connection.execute(statement).rowcount == 1


def add_deliveries(engine: Engine, taken: Claim, at: datetime) -> int:
    """Make deliveries of the entries behind the webhook's position; return the number of entries that were read."""
    with write_engine(engine).begin() as connection:
        is_waiting = (Delivery.webhook_id == taken.webhook_id, Delivery.done_at.is_(None))
        waiting = connection.scalar(select(func.count()).select_from(Delivery).where(*is_waiting)) or 0
        limit = min(ENTRIES, WAITING_MAX - waiting)
        entries = _entries_behind(connection, taken.position, limit) if limit > 0 else []
        if not entries or not renew(connection, taken, at, position=entries[-1].id):
            return 0
        if rows := [_delivery(taken.webhook_id, entry, at) for entry in entries if _is_wanted(taken, entry)]:
            connection.execute(insert(Delivery), rows)
        return len(entries)


def _entries_behind(connection: Connection, position: int, limit: int) -> Sequence[AnyRow]:
    """Return entries up to the chain head: their numbers have no gaps and follow the order of the commits."""
    head = select(AuditHead.number).where(AuditHead.id == 1).scalar_subquery()
    columns = (AdminActivity.id, AdminActivity.action, AdminActivity.kind, AdminActivity.record_id)
    behind = select(*columns).where(AdminActivity.id > position, AdminActivity.id <= head)
    return connection.execute(behind.order_by(AdminActivity.id).limit(limit)).all()


def _is_wanted(taken: Claim, entry: AnyRow) -> bool:
    is_event = entry.action in EVENTS and (not taken.events or EVENTS[entry.action] in taken.events)
    return is_event and (not taken.kinds or entry.kind in taken.kinds)


def _delivery(webhook_id: int, entry: AnyRow, at: datetime) -> dict[str, object]:
    return {
        "webhook_id": webhook_id,
        "message_id": new_message_id(),
        "event": EVENTS[entry.action],
        "number": entry.id,
        "kind": entry.kind,
        "record_id": entry.record_id,
        "created_at": at,
        "next_at": at,
    }


def new_message_id() -> str:
    """Return a random id of a message."""
    return f"msg_{secrets.token_hex(12)}"


def due(engine: Engine, taken: Claim, at: datetime) -> Sequence[AnyRow]:
    """Return deliveries that are due, oldest first, none of a record with an earlier one that pauses."""
    earlier = Delivery.__table__.alias()
    is_earlier = and_(
        earlier.c.webhook_id == Delivery.webhook_id,
        earlier.c.done_at.is_(None),
        earlier.c.id < Delivery.id,
        earlier.c.next_at > at,
        earlier.c.kind == Delivery.kind,
        earlier.c.record_id == Delivery.record_id,
    )
    is_due = (Delivery.webhook_id == taken.webhook_id, Delivery.done_at.is_(None), Delivery.next_at <= at)
    query = select(Delivery.__table__).where(*is_due, ~exists().where(is_earlier))
    with autocommit_engine(engine).connect() as connection:
        return connection.execute(query.order_by(Delivery.id).limit(BATCH)).all()


def settle(engine: Engine, taken: Claim, delivery: AnyRow, outcome: Outcome, at: datetime) -> str:
    """Store how an attempt ended; return "" or why the turn is over: LOST, as ``renew`` says, or the new ``problem``.

    A webhook whose delivery has failed for GIVE_UP_AFTER, or that is gone (410), is switched off.
    """
    attempts, first_at = delivery.attempts + 1, delivery.first_at or at
    values = {
        **outcome.columns,
        "attempts": attempts,
        "first_at": first_at,
        "tried_at": at,
        "next_at": at + outcome.pause(attempts),
        "done_at": at if outcome.is_done else None,
    }
    is_over = not outcome.is_done and (outcome.is_gone or at - first_at >= GIVE_UP_AFTER)
    problem = ("gone" if outcome.is_gone else "failed") if is_over else ""
    off = {"is_on": False, "problem": problem} if problem else {}
    with write_engine(engine).begin() as connection:
        if not renew(connection, taken, at, **off):
            return LOST
        connection.execute(update(Delivery).where(Delivery.id == delivery.id).values(values))
    return problem


def release(engine: Engine, taken: Claim, next_at: datetime) -> None:
    """Give the lease back and remove old deliveries that are done; the webhook is looked at again at ``next_at``."""
    done = (Delivery.webhook_id == taken.webhook_id, Delivery.done_at.is_not(None))
    last_kept = select(Delivery.id).where(*done).order_by(Delivery.id.desc()).offset(DONE_KEPT - 1).limit(1)
    is_own = (Webhook.id == taken.webhook_id, Webhook.owner == taken.owner)
    with write_engine(engine).begin() as connection:
        connection.execute(update(Webhook).where(*is_own).values(owner=None, leased_until=None, next_at=next_at))
        connection.execute(delete(Delivery).where(*done, Delivery.id < last_kept.scalar_subquery()))
