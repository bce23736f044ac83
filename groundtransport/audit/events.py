"""Does the security log still say what it said? Its chain, the marks in it, and what ``prune`` and a new key leave."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from groundtransport.accounts.event_chain import append, text_of
from groundtransport.accounts.models import SecurityEvent, SecurityHead
from groundtransport.accounts.security_log import COMMAND_LINE, Entry, Event
from groundtransport.audit.chain import GENESIS, digest_more
from groundtransport.audit.verify import Tampered
from groundtransport.db.functions import advisory_lock
from groundtransport.signing import Key

CHUNK = 5_000  # events read at a time
MARKS = (Event.PRUNED, Event.RESEALED)


@dataclass(frozen=True)
class End:
    """A place in the chain: the number and the signature of its last event, and the digest of all, without a key."""

    number: int = 0
    mac: str = GENESIS
    digest: str = ""

    @property
    def details(self) -> dict[str, str]:
        return {"through": str(self.number), "mac": self.mac, "digest": self.digest}


def verify(dbsession: Session, keys: Mapping[str, Key]) -> int:
    """Walk the chain of the security log; return how many events are signed. Raise Tampered at the first bad one."""
    return _walk(dbsession, keys, dbsession.scalar(select(func.max(SecurityEvent.id))) or 0, whole=True)[1]


def prune(dbsession: Session, keys: Mapping[str, Key], until: datetime, actor: str) -> int:
    """Remove the events from before a moment, and note the place of the last in the chain; return how many."""
    _hold(dbsession)
    kept = dbsession.scalar(select(func.min(SecurityEvent.id)).where(SecurityEvent.at >= until))
    last = dbsession.scalar(select(func.max(SecurityEvent.id)).where(*([SecurityEvent.id < kept] if kept else [])))
    if last is None:
        return 0
    end, _ = _walk(dbsession, keys, last)
    gone: Any = dbsession.execute(delete(SecurityEvent).where(SecurityEvent.id <= last))
    _mark(dbsession, keys, Event.PRUNED, end, actor)
    return int(gone.rowcount)


def reseal(dbsession: Session, keys: Mapping[str, Key], actor: str) -> bool:
    """Vouch with the newest key for events of other keys; return whether there were any that it did not vouch for."""
    newest = next(iter(keys.values()))
    _hold(dbsession)
    others = select(func.max(SecurityEvent.id)).where(SecurityEvent.key_id.not_in(["", newest.key_id]))
    last = dbsession.scalar(others) or 0
    if last <= max(_vouched(dbsession, {newest.key_id: newest}), default=0):
        return False
    end, _ = _walk(dbsession, keys, last)
    _mark(dbsession, keys, Event.RESEALED, end, actor)
    return True


def _hold(dbsession: Session) -> None:
    head = SecurityHead
    dbsession.execute(select(head.number).where(head.id == 1, advisory_lock(head.id)).with_for_update())


def _mark(dbsession: Session, keys: Mapping[str, Key], event: Event, end: End, actor: str) -> None:
    entry = Entry(event, actor, address=COMMAND_LINE, details=end.details)
    append(dbsession.connection(), next(iter(keys.values())), [entry.row])


def _walk(dbsession: Session, keys: Mapping[str, Key], last: int, *, whole: bool = False) -> tuple[End, int]:
    """Verify the events up to a number; return the place of that one, and how many are signed."""
    vouched = _vouched(dbsession, keys)
    end, count = _start(dbsession), 0
    for event in _events(dbsession, last):
        number = event["id"]
        if not event["mac"] and end.mac == GENESIS and not count:
            end = End(number)
            continue
        if (count or end.mac) and number != end.number + 1:
            raise Tampered(f"security event {end.number + 1} is missing")
        text = text_of(event, end.mac)
        _check(event, text, keys, max(vouched, default=0))
        end, count = End(number, event["mac"], digest_more(end.digest, text)), count + 1
        if number in vouched and vouched[number] != (end.mac, end.digest):
            raise Tampered(f"a security event up to {number} was changed: the mark of the key's rotation does not fit")
    if whole:
        _check_head(dbsession, end, count)
    return end, count


def _check(event: Mapping[str, Any], text: str, keys: Mapping[str, Key], vouched: int) -> None:
    key = keys.get(event["key_id"])
    if key is None and event["id"] > vouched:
        raise Tampered(f"security event {event['id']} is signed with the unknown key {event['key_id']!r}")
    if key is not None and not key.signed(text, event["mac"]):
        raise Tampered(f"security event {event['id']} was changed, or the one before it")


def _check_head(dbsession: Session, end: End, count: int) -> None:
    head = dbsession.get(SecurityHead, 1, populate_existing=True)
    if head is None:
        raise Tampered(f"security event {end.number + 1} is missing: the head of the security log is gone")
    if head.number > end.number and (head.mac or count):
        raise Tampered(f"security event {end.number + 1} is missing: the head names {head.number}")
    if head.mac != end.mac or (count and head.number != end.number):
        raise Tampered(f"security event {end.number} is not the one that the head names, {head.number}")


def _start(dbsession: Session) -> End:
    """Return the place where the log was pruned last. The event that says so is verified with the others."""
    query = select(SecurityEvent.details).where(SecurityEvent.event == Event.PRUNED).order_by(SecurityEvent.id.desc())
    details = dbsession.scalar(query.limit(1))
    return End(int(details["through"]), details["mac"], details["digest"]) if details else End()


def _vouched(dbsession: Session, keys: Mapping[str, Key]) -> dict[int, tuple[str, str]]:
    """Return what a key of ours says of the events up to a number, in events that are verified with the others."""
    query = select(SecurityEvent.details).where(SecurityEvent.event == Event.RESEALED, SecurityEvent.key_id.in_(keys))
    return {int(said["through"]): (said["mac"], said["digest"]) for said in dbsession.scalars(query)}


def _events(dbsession: Session, last: int) -> Iterator[dict[str, Any]]:
    table, after = SecurityEvent.__table__, -1
    while True:
        page = select(table).where(table.c.id > after, table.c.id <= last).order_by(table.c.id).limit(CHUNK)
        rows = dbsession.execute(page).mappings().all()
        yield from map(dict, rows)
        if len(rows) < CHUNK:
            return
        after = rows[-1]["id"]
