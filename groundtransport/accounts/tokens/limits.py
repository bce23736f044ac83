"""The rate limit of tokens: requests a minute, shared by all workers.

A worker leases a part of the permitted requests from the token's row and spends it in memory, so that the limit holds
for all workers together and most requests write nothing. Permits that a worker does not spend lapse with the window.
"""

import threading
import time
from dataclasses import dataclass

WINDOW = 60  # seconds
PARTS = 20  # a lease is this part of the limit
WORKER_TOKENS = 10_000  # tokens whose leases a worker remembers


@dataclass
class Lease:
    """The remaining requests in a window: of a worker's lease (``permits``), and of the token without it."""

    window: int
    permits: int
    unleased: int

    @property
    def remaining(self) -> int:
        """The number of requests that are left; below 0 over the limit."""
        return self.permits + self.unleased


def current_window() -> int:
    """Return the number of the current window."""
    return int(time.time()) // WINDOW


def seconds_left() -> int:
    """Return the seconds until the next window begins, at least 1."""
    return WINDOW - int(time.time()) % WINDOW


def lease_size(limit: int) -> int:
    """Return the number of requests of a lease; 0 without a limit."""
    return max(1, limit // PARTS) if limit else 0


class Leases:
    """The leases of a worker, by the hash of the token. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._leases: dict[str, Lease] = {}

    def spend(self, token_hash: str) -> Lease | None:
        """Spend one permit, and return the lease; None if a lease must be taken first.

        The ``permits`` of an exhausted lease are -1.
        """
        with self._lock:
            lease = self._leases.get(token_hash)
            if lease is None or lease.window != current_window() or (lease.permits == 0 and lease.unleased > 0):
                return None
            if self.limit:
                lease.permits = max(-1, lease.permits - 1)
            return lease

    def put(self, token_hash: str, window: int, count: int) -> Lease:
        """Store a lease that raised the count of the token's row to ``count``; spend one permit, and return it.

        The permits of a lease that another thread has taken at the same time are added.
        """
        size = lease_size(self.limit)
        granted = max(0, min(size, self.limit - (count - size)))
        lease = Lease(window, granted - 1 if self.limit else 0, max(0, self.limit - count))
        with self._lock:
            other = self._leases.get(token_hash)
            if other and other.window == window and other.permits > 0:
                lease.permits += other.permits
                lease.unleased = min(lease.unleased, other.unleased)
            if len(self._leases) >= WORKER_TOKENS:
                self._leases.clear()
            self._leases[token_hash] = lease
        return lease
