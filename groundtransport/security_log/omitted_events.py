"""In-memory counters of the security events that this process omits because there are too many of one type."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=5)
NETWORKS = 1_000  # networks with a counter of their own; the events of further networks share one
ELSEWHERE = "(others)"


@dataclass
class Count:
    """The number of omitted events of one type from one network since a time."""

    event: str
    network: str
    since: datetime
    number: int = 0


class OmittedEvents:
    """Thread-safe counters of the current windows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], Count] = {}

    def add(self, event: str, network: str, at: datetime) -> None:
        """Count one omitted event. The first event of a type from a network starts a window of WINDOW."""
        with self._lock:
            has_counter = (event, network) in self._counts or len(self._counts) < NETWORKS
            key = (event, network if has_counter else ELSEWHERE)
            self._counts.setdefault(key, Count(*key, at)).number += 1

    def pop(self, moment: datetime | None = None) -> list[Count]:
        """Remove and return the counts whose window has ended at ``moment``; all counts without it."""
        if not self._counts:  # called after every request: avoids the lock
            return []
        with self._lock:
            counts = [count for count in self._counts.values() if moment is None or moment - count.since >= WINDOW]
            for count in counts:
                del self._counts[count.event, count.network]
            return counts
