"""Counts, in this process, the security events that are too many of their sort to be written one by one."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=5)
NETWORKS = 1_000  # that are counted by themselves at a time; more are counted as one
ELSEWHERE = "(others)"


@dataclass
class Count:
    """How many events of one sort, from one network, were left out since a moment."""

    event: str
    network: str
    since: datetime
    number: int = 0


class LeftOut:
    """The counts of the windows that are not over yet. Safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], Count] = {}

    def add(self, event: str, network: str, at: datetime) -> None:
        with self._lock:
            known = (event, network) in self._counts or len(self._counts) < NETWORKS
            key = (event, network if known else ELSEWHERE)
            self._counts.setdefault(key, Count(*key, at)).number += 1

    def over(self, moment: datetime | None = None) -> list[Count]:
        """Return the counts whose window is over at a moment, or all of them, and forget them."""
        if not self._counts:  # asked after every request
            return []
        with self._lock:
            found = [count for count in self._counts.values() if moment is None or moment - count.since >= WINDOW]
            for count in found:
                del self._counts[count.event, count.network]
            return found
