"""The one listener of all changes: it queues an entry for each, and writes them just before the commit.

The head of the chain is taken last, so that writers meet only there and cannot block each other crosswise.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from groundtransport.audit import checkpoints
from groundtransport.audit.chain import Key, canonical, text_of
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.bulk import insert_rows
from groundtransport.db import limit_waiting, now
from groundtransport.events import RecordChanged
from groundtransport.sql import in_turn
from groundtransport.text import PART, fold

# Made once: every change needs them.
_ENTRIES: Any = AdminActivity.__table__
_HEADS: Any = AuditHead.__table__
_HEAD = select(_HEADS.c.number, _HEADS.c.mac).where(_HEADS.c.id == 1, in_turn(_HEADS.c.id)).with_for_update()
_MOVE = update(_HEADS).where(_HEADS.c.id == 1).values(number=bindparam("last"), mac=bindparam("last_mac"))
# Names of their own: SQLAlchemy gives a parameter that is named like a column to both tables.
_VALUES: dict[str, Any] = {name: bindparam(f"entry_{name}") for name in _ENTRIES.c.keys()}  # noqa: SIM118  # no mapping
_INSERT_AND_MOVE = insert(_ENTRIES).values(_VALUES).add_cte(_MOVE.cte("moved"))


class Auditor:
    """Subscribes to RecordChanged. ``key`` signs what it writes."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.clerk = checkpoints.Clerk()

    def __call__(self, event: RecordChanged) -> None:
        session = event.dbsession
        queue = session.info.setdefault("audit", [])
        if not queue:
            session.info["tm"].get().addBeforeCommitHook(self.write, (session,))
        queue.append(entry_of(event))

    def write(self, session: Session) -> None:
        """Number, sign and insert the entries of a transaction, and move the head."""
        queue = session.info.pop("audit")
        limit_waiting(session)
        head = session.execute(_HEAD).one()
        moment = now()
        mac = head.mac
        for number, entry in enumerate(queue, head.number + 1):
            entry |= {"id": number, "at": moment, "key_id": self.key.key_id, "changes": canonical(entry["changes"])}
            mac = self.key.sign(text_of(entry, mac))
            entry |= {"mac": mac, "search_text": PART.join((fold(entry["label"]), fold(entry["actor"])))}
        limit_waiting(session)
        last = head.number + len(queue)
        moved = {"last": last, "last_mac": mac}
        if len(queue) == 1 and session.get_bind().dialect.name == "postgresql":
            named = {f"entry_{name}": value for name, value in queue[0].items()}
            session.execute(_INSERT_AND_MOVE, named | moved)  # one round trip
        else:
            insert_rows(session, AdminActivity, queue)
            session.execute(_MOVE, moved)
        if self.clerk.due(head.number, last):
            checkpoint = checkpoints.make(self.key, last, mac, moment)
            session.info["tm"].get().addAfterCommitHook(self.announce, (checkpoint,))

    def announce(self, committed: bool, checkpoint: checkpoints.Checkpoint) -> None:  # noqa: FBT001  # the hook's form
        if committed:
            self.clerk.write(checkpoint)


def entry_of(event: RecordChanged) -> dict[str, Any]:
    """Return the entry of an event, but for what is known at the commit only."""
    actor = event.actor
    return {
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
        "changes": changes(event.before, event.after),
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fields that differ, each with its old and its new value."""
    pairs = {name: {"old": before.get(name), "new": after.get(name)} for name in {**before, **after}}
    return {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]}
