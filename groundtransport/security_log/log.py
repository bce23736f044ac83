"""Write security events to the database and to the process log, and limit their number."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.db import write_engine
from groundtransport.security_log import event_chain
from groundtransport.security_log.events import REFUSALS, Entry, Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.security_log.omitted_events import WINDOW, Count, OmittedEvents
from groundtransport.signing import Key

log = logging.getLogger("groundtransport.security")

MOST_OF_ONE = 50  # events of one type from one network in one window
MOST_OF_ALL = 1_000  # events of one type in one window: at most 288,000 a day


@dataclass(frozen=True)
class SecurityLog:
    """The database of the events, the key that signs them, and the counters of omitted events."""

    engine: Engine
    key: Key
    omitted: OmittedEvents = field(default_factory=OmittedEvents)


def write(security_log: SecurityLog, entries: Iterable[Entry], wait: float | None = None) -> None:
    """Write entries in one transaction that waits at most ``wait`` seconds for a lock.

    Entries over the limits are only counted. If the database fails, the entries are still in the process log.
    """
    entries = list(entries)
    try:
        excess = find_excess(security_log.engine, entries)
        entries = [entry for entry in entries if entry not in excess]
        if entries:
            with write_engine(security_log.engine, wait).begin() as connection:
                event_chain.append(connection, security_log.key, [entry.row for entry in entries])
    except SQLAlchemyError:
        log.warning("security events were not written to the database", exc_info=True)
    else:
        for entry in excess:
            security_log.omitted.add(entry.event, entry.network, entry.at)
    write_lines(entries)


def write_lines(entries: Iterable[Entry]) -> None:
    """Write entries to the process log only."""
    for entry in entries:
        log.log(logging.WARNING if entry.event in REFUSALS else logging.INFO, "%s", entry.line)


def count_entry(count: Count) -> Entry:
    """Return the entry that reports the number of omitted events."""
    since = count.since.isoformat(timespec="seconds")
    details = {"event": count.event, "number": str(count.number), "since": since}
    return Entry(Event.LEFT_OUT, "", address=count.network, details=details)


def write_counts(security_log: SecurityLog) -> None:
    """Write the counts of omitted events, also of windows that have not ended. Called when the process ends."""
    counts = security_log.omitted.pop()
    if counts:
        write(security_log, map(count_entry, counts))


def find_excess(engine: Engine, entries: list[Entry]) -> list[Entry]:
    """Return the entries that exceed a limit of their type. The query takes no lock."""
    refusals = [entry for entry in entries if entry.event in REFUSALS]
    if not refusals:
        return []
    with engine.connect() as connection:
        return [entry for entry in refusals if _is_excess(connection, entry)]


def _is_excess(connection: Connection, entry: Entry) -> bool:
    table = SecurityEvent
    same_type = (table.event == entry.event, table.at > entry.at - WINDOW)
    same_network = (*same_type, table.network == entry.network)
    limits = [(MOST_OF_ALL, same_type), (MOST_OF_ONE, same_network)]
    if entry.event == Event.THROTTLED:
        limits.append((1, (*same_network, table.name == entry.name)))
    return any(
        connection.scalar(select(table.id).where(*conditions).offset(limit - 1).limit(1)) is not None
        for limit, conditions in limits
    )
