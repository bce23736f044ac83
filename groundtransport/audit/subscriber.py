"""Subscriber that writes the activity log: queue an entry for each change, and insert the queue before the commit.

The chain head is locked last, after every other row of the transaction, so that two writers cannot deadlock over it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from groundtransport.audit import checkpoints
from groundtransport.audit.chain import Key, canonical, text_of
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.audit.search_texts import search_text
from groundtransport.db import limit_lock_wait, now, table_of, transaction_data
from groundtransport.db.bulk_insert import insert_rows
from groundtransport.db.commit_outcome import EVIDENCE
from groundtransport.db.functions import advisory_lock
from groundtransport.events import Change, Value

# Built once: every change needs them.
_HEADS = table_of(AuditHead)
_ENTRIES = table_of(AdminActivity)
_HEAD = select(_HEADS.c.number, _HEADS.c.mac).where(_HEADS.c.id == 1, advisory_lock(_HEADS.c.id)).with_for_update()
_MOVE = update(_HEADS).where(_HEADS.c.id == 1).values(number=bindparam("last"), mac=bindparam("last_mac"))
_MAC = select(_ENTRIES.c.mac).where(_ENTRIES.c.id == bindparam("last"))


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: the number and the signature of its last entry."""

    number: int
    mac: str


class Auditor:
    """Subscriber to Change that logs each change. ``key`` signs the entries."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.checkpoints = checkpoints.CheckpointWriter()

    def __call__(self, event: Change) -> None:
        """Queue the entry of a change; the queue is written just before the transaction commits."""
        session = event.dbsession
        queue = transaction_data(session).setdefault("audit", [])
        if not queue:
            session.info["tm"].get().addBeforeCommitHook(self.write, (session,))
        queue.append(entry_of(event))

    def write(self, session: Session) -> None:
        """Lock the chain head, insert the queued entries behind it, and move it to the last one."""
        data = transaction_data(session)
        queue = data.pop("audit")
        limit_lock_wait(session)
        connection = session.connection()  # the session would add its own work to each of these statements
        row = connection.execute(_HEAD).one()
        entries = self.sign(queue, Head(row.number, row.mac))
        last = Head(entries[-1]["id"], entries[-1]["mac"])
        insert_rows(session, _ENTRIES, entries)
        connection.execute(_MOVE, {"last": last.number, "last_mac": last.mac})
        data[EVIDENCE] = partial(is_logged, last)
        session.info["tm"].get().addAfterCommitHook(self.write_checkpoint, (last, len(queue)))

    def sign(self, queue: list[dict[str, Value]], head: Head) -> list[dict[str, Value]]:
        """Return the queued entries as rows: numbered from ``head`` on, each signed with the signature before it."""
        at, mac = now(), head.mac
        entries = []
        for number, values in enumerate(queue, head.number + 1):
            entry = {**values, "id": number, "at": at, "key_id": self.key.key_id}
            mac = self.key.sign(text_of(entry, mac))
            entries.append({**entry, "mac": mac})
        return entries

    def write_checkpoint(self, committed: bool, last: Head, count: int) -> None:  # noqa: FBT001  # the hook's form
        """Write a checkpoint of ``last`` to the process log, if the commit of ``count`` entries made one due."""
        if committed and self.checkpoints.due(last.number - count, last.number):
            self.checkpoints.write(checkpoints.make(self.key, last.number, last.mac, now()))


def is_logged(last: Head, connection: Connection) -> bool:
    """Return whether the transaction whose last entry is ``last`` was committed.

    A transaction locks the chain head until it ends: the lock proves here that it has ended.
    """
    connection.execute(_HEAD)
    return connection.scalar(_MAC, {"last": last.number}) == last.mac


def entry_of(event: Change) -> dict[str, object]:
    """Return the columns of an event's entry that are known before the commit."""
    actor = event.actor
    return {
        "search_text": search_text(event.label, actor.name),
        "actor_id": actor.user_id,
        "actor": actor.name,
        "token": actor.token,
        "request_id": actor.request_id,
        "address": actor.client_ip,
        "batch": actor.batch,
        "action": event.action,
        "kind": event.kind,
        "record_id": event.record_id,
        "version": event.version,
        "airport_code": event.after.get("airport_code", event.before.get("airport_code", "")),
        "label": event.label,
        "changes": canonical(changes(event.before, event.after)),
    }


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Return the fields that differ, as ``{field: {"old": value, "new": value}}``."""
    return {
        name: {"old": old, "new": new}
        for name in {**before, **after}
        if (old := before.get(name)) != (new := after.get(name))
    }
