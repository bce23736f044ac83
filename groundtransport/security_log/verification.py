"""Verify the chain of the security log, remove old events, and re-sign after a change of the key.

Removal (``prune``) and re-signing (``reseal``) each append a mark: a signed event that holds an end of the chain.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CursorResult, delete, func, select
from sqlalchemy.orm import Session

from groundtransport.db.functions import advisory_lock
from groundtransport.events import Values
from groundtransport.security_log.event_chain import append, text_of
from groundtransport.security_log.events import COMMAND_LINE, Entry, Event
from groundtransport.security_log.models import SecurityEvent, SecurityHead
from groundtransport.signing import GENESIS, Key, Tampered, check_signature, extend_digest

CHUNK = 5_000  # events per query


@dataclass(frozen=True)
class End:
    """A position in the chain: number and signature of its last event, and the digest of the events up to there."""

    number: int = 0
    mac: str = GENESIS
    digest: str = ""

    @property
    def details(self) -> dict[str, str]:
        """The details of a mark."""
        return {"through": str(self.number), "mac": self.mac, "digest": self.digest}


def verify(dbsession: Session, keys: Mapping[str, Key]) -> int:
    """Verify the whole security log, and return the number of signed events.

    Raise Tampered at the first event that was changed or is missing.
    """
    return _walk(dbsession, keys, dbsession.scalar(select(func.max(SecurityEvent.id))) or 0, whole=True)[1]


def prune(dbsession: Session, keys: Mapping[str, Key], until: datetime, actor: str) -> int:
    """Remove the events before ``until``, append a mark in the name of ``actor``, and return their number.

    Raise Tampered if they do not verify.
    """
    _lock_head(dbsession)
    first_kept = dbsession.scalar(select(func.min(SecurityEvent.id)).where(SecurityEvent.at >= until))
    older = [] if first_kept is None else [SecurityEvent.id < first_kept]
    last = dbsession.scalar(select(func.max(SecurityEvent.id)).where(*older))
    if last is None:
        return 0
    end, _ = _walk(dbsession, keys, last)
    result = dbsession.execute(delete(SecurityEvent).where(SecurityEvent.id <= last))
    _append_mark(dbsession, keys, Event.PRUNED, end, actor)
    assert isinstance(result, CursorResult)
    return result.rowcount


def reseal(dbsession: Session, keys: Mapping[str, Key], actor: str) -> bool:
    """Append a mark by which the newest key vouches for the events signed with other keys.

    Return False if there are no such events, or if the newest key vouches for them already. Raise Tampered if they do
    not verify.
    """
    newest = next(iter(keys.values()))
    _lock_head(dbsession)
    other_keys = select(func.max(SecurityEvent.id)).where(SecurityEvent.key_id.not_in(["", newest.key_id]))
    last = dbsession.scalar(other_keys) or 0
    if last <= max(_vouched(dbsession, {newest.key_id: newest}), default=0):
        return False
    end, _ = _walk(dbsession, keys, last)
    _append_mark(dbsession, keys, Event.RESEALED, end, actor)
    return True


def _lock_head(dbsession: Session) -> None:
    head = SecurityHead
    dbsession.execute(select(head.number).where(head.id == 1, advisory_lock(head.id)).with_for_update())


def _append_mark(dbsession: Session, keys: Mapping[str, Key], event: Event, end: End, actor: str) -> None:
    entry = Entry(event, actor, address=COMMAND_LINE, details=end.details)
    append(dbsession.connection(), next(iter(keys.values())), [entry.row])


def _walk(dbsession: Session, keys: Mapping[str, Key], last: int, *, whole: bool = False) -> tuple[End, int]:
    """Verify the events up to number ``last``; return the end of the chain there and the number of signed events."""
    vouched = _vouched(dbsession, keys)
    end, count = _start(dbsession), 0
    for event in _events(dbsession, last):
        number = event["id"]
        if not event["mac"] and end.mac == GENESIS and not count:
            end = End(number)  # older than the chain
            continue
        if (count or end.mac) and number != end.number + 1:
            raise Tampered(f"security event {end.number + 1} is missing")
        text = text_of(event, end.mac)
        check_signature("security event", event, text, keys, max(vouched, default=0))
        end, count = End(number, event["mac"], extend_digest(end.digest, text)), count + 1
        if number in vouched and vouched[number] != end:
            raise Tampered(f"a security event up to {number} was changed: the mark of the key rotation does not match")
    if whole:
        _check_head(dbsession, end, count)
    return end, count


def _check_head(dbsession: Session, end: End, count: int) -> None:
    """Raise Tampered if the chain head does not name the last event."""
    head = dbsession.get(SecurityHead, 1, populate_existing=True)
    if head is None:
        raise Tampered(f"security event {end.number + 1} is missing: the head of the security log is gone")
    if head.number > end.number and (head.mac or count):
        raise Tampered(f"security event {end.number + 1} is missing: the head names {head.number}")
    if head.mac != end.mac or (count and head.number != end.number):
        raise Tampered(f"security event {end.number} is not the one that the head names, {head.number}")


def _start(dbsession: Session) -> End:
    """Return the end of the removed part of the chain. The mark that holds it is verified with the other events."""
    query = select(SecurityEvent.details).where(SecurityEvent.event == Event.PRUNED).order_by(SecurityEvent.id.desc())
    details = dbsession.scalar(query.limit(1))
    return _end_of(details) if details else End()


def _vouched(dbsession: Session, keys: Mapping[str, Key]) -> dict[int, End]:
    """Return the ends that marks of these keys vouch for, by number. The marks are verified with the other events."""
    query = select(SecurityEvent.details).where(SecurityEvent.event == Event.RESEALED, SecurityEvent.key_id.in_(keys))
    ends = map(_end_of, dbsession.scalars(query))
    return {end.number: end for end in ends}


def _end_of(details: Mapping[str, str]) -> End:
    return End(int(details["through"]), details["mac"], details["digest"])


def _events(dbsession: Session, last: int) -> Iterator[Values]:
    """Yield the events up to number ``last``, in order."""
    table, after = SecurityEvent.__table__, -1
    while True:
        page = select(table).where(table.c.id > after, table.c.id <= last).order_by(table.c.id).limit(CHUNK)
        rows = dbsession.execute(page).mappings().all()
        yield from map(dict, rows)
        if len(rows) < CHUNK:
            return
        after = rows[-1]["id"]
