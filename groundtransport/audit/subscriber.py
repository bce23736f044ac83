"""The one listener of all changes: it queues an entry for each, and writes them just before the commit.

The head of the chain is taken last, so that writers meet only there and cannot block each other crosswise. Only what
goes along with the entry (along.py), a row of one's own, is locked after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import Connection, Insert, Update, bindparam, exists, insert, select, update
from sqlalchemy.orm import Session

from groundtransport.audit import checkpoints
from groundtransport.audit.chain import Key, canonical, text_of
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.audit.search_texts import search_text
from groundtransport.db import limit_lock_wait, now, transaction_data
from groundtransport.db.bulk_insert import insert_rows
from groundtransport.db.commit_outcome import EVIDENCE
from groundtransport.db.deferred import Waiting, expect_last, waiting_for
from groundtransport.db.functions import advisory_lock
from groundtransport.events import RecordChanged

# Made once: every change needs them.
_ENTRIES: Any = AdminActivity.__table__
_HEADS: Any = AuditHead.__table__
_HEAD = select(_HEADS.c.number, _HEADS.c.mac).where(_HEADS.c.id == 1).with_for_update()
_HEAD_IN_TURN = _HEAD.where(advisory_lock(_HEADS.c.id))
_MAC = select(_ENTRIES.c.mac).where(_ENTRIES.c.id == bindparam("number"))
_IS_HEAD = (_HEADS.c.id == 1, _HEADS.c.number == bindparam("before"), _HEADS.c.mac == bindparam("before_mac"))
_MOVE = update(_HEADS).where(*_IS_HEAD).values(number=bindparam("last"), mac=bindparam("last_mac"))
# Names of their own: SQLAlchemy gives a parameter that is named like a column to both tables.
_NAMED: dict[str, Any] = {column.name: bindparam(f"entry_{column.name}", type_=column.type) for column in _ENTRIES.c}

REST = 10  # single changes of this process that ask for the head, after one whose guess was wrong


@dataclass(frozen=True)
class Head:
    """The end of the chain: the number and the signature of its last entry."""

    number: int
    mac: str


class Auditor:
    """Subscribes to RecordChanged. ``key`` signs what it writes."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.clerk = checkpoints.CheckpointWriter()
        self.seen: Head | None = None  # as this process left it
        self.rest = 0  # changes until it is guessed again

    def __call__(self, event: RecordChanged) -> None:
        session = event.dbsession
        queue = transaction_data(session).setdefault("audit", [])
        if not queue:
            expect_last(session)
            session.info["tm"].get().addBeforeCommitHook(self.write, (session,))
        queue.append(entry_of(event))

    def write(self, session: Session) -> None:
        """Number, sign and insert the entries of a transaction, and move the head.

        A single change takes the head for where this process left it, which spares the question. What is written then
        is written where that is true alone; where it is not, the head is asked for, and locked, as for many changes.
        """
        kept = transaction_data(session)
        queue, others = kept.pop("audit"), waiting_for(session)
        guess = self.guess() if len(queue) == 1 else None
        kept["has_guessed"] = guess is not None or kept.get("has_guessed", False)
        last = self.append(session, queue, guess, others) if guess else None
        if last is None:
            # Who guessed, now or before in this transaction, has the lock, maybe, and must not wait for its turn.
            limit_lock_wait(session)
            found = session.execute(_HEAD if kept["has_guessed"] else _HEAD_IN_TURN).one()
            head = Head(found.number, found.mac)
            last = self.append(session, queue, head, others)
            if last is None:
                raise RuntimeError("the locked head of the activity log was moved")
            if guess:
                self.seen, self.rest = None, REST
        kept[EVIDENCE] = partial(is_logged, last)
        session.info["tm"].get().addAfterCommitHook(self.done, (last, len(queue)))

    def guess(self) -> Head | None:
        """Return the head as this process left it, unless others write, too."""
        if self.rest > 0:
            self.rest -= 1
            return None
        return self.seen

    def append(self, session: Session, queue: list[dict[str, Any]], head: Head, others: Waiting) -> Head | None:
        """Write entries after ``head``, and what goes along, and return the new one; None where it is not the head.

        Nothing is written then, nor locked but the head: who waits for it must hold no row that the next one needs.
        """
        moment, mac = now(), head.mac
        entries = []
        for number, told in enumerate(queue, head.number + 1):
            entry = {**told, "id": number, "at": moment, "key_id": self.key.key_id}
            mac = self.key.sign(text_of(entry, mac))
            entries.append({**entry, "mac": mac})
        last = Head(entries[-1]["id"], mac)
        moved = {"before": head.number, "before_mac": head.mac, "last": last.number, "last_mac": last.mac}
        limit_lock_wait(session)
        result: Any
        if len(entries) == 1 and session.get_bind().dialect.name == "postgresql":
            named = {f"entry_{name}": value for name, value in entries[0].items()}
            for _, values in others:
                named |= values
            result = session.execute(_in_one(*(other for other, _ in others)), named | moved)
            return last if result.rowcount == 1 else None
        result = session.execute(_MOVE, moved)
        if result.rowcount != 1:
            return None
        insert_rows(session, AdminActivity, entries)
        for other, values in others:
            session.execute(other, values)
        return last

    def done(self, committed: bool, last: Head, count: int) -> None:  # noqa: FBT001  # the hook's form
        if not committed:
            return
        self.seen = last
        if self.clerk.due(last.number - count, last.number):
            self.clerk.write(checkpoints.make(self.key, last.number, last.mac, now()))


def is_logged(last: Head, connection: Connection) -> bool:
    """Return whether the transaction whose last entry this is was committed.

    It holds the head until its end: whoever gets the lock knows that it has ended.
    """
    connection.execute(_HEAD)
    return connection.scalar(_MAC, {"number": last.number}) == last.mac


@cache
def _in_one(*others: Update) -> Insert:
    """Return the statement that moves the head, inserts one entry and executes ``others``: all, or nothing of it.

    It does if the head is where it is said to be.
    """
    moved = _MOVE.returning(_HEADS.c.id).cte("moved")
    whole = insert(_ENTRIES).from_select(list(_NAMED), select(*_NAMED.values()).select_from(moved))
    is_moved = exists(select(moved.c.id))
    whole = whole.add_cte(*(other.where(is_moved).cte(f"along_{number}") for number, other in enumerate(others)))
    return whole.execution_options(preserve_rowcount=True)  # of an insert, SQLAlchemy forgets it


def entry_of(event: RecordChanged) -> dict[str, Any]:
    """Return the entry of an event, but for what is known at the commit only."""
    actor = event.actor
    return {
        "search_text": search_text(event.label, actor.name),
        "actor_id": actor.user_id,
        "actor": actor.name,
        "request_id": actor.request_id,
        "address": actor.address,
        "batch": actor.batch,
        "action": event.action,
        "kind": event.kind,
        "record_id": event.record_id,
        "version": event.version,
        "airport_code": (event.after or event.before).get("airport_code", ""),
        "label": event.label,
        "changes": canonical(changes(event.before, event.after)),
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fields that differ, each with its old and its new value."""
    pairs = {name: {"old": before.get(name), "new": after.get(name)} for name in {**before, **after}}
    return {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]}
