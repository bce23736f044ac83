"""The rate limit of public records: requests a minute of one client, counted by each worker for itself.

A worker only sends a file that it has made before, so a count that all workers share would cost more than it saves.
"""

import threading

from groundtransport.accounts.tokens.limits import Lease, current_window

CLIENTS_MAX = 10_000  # clients that a worker remembers


class ClientLimit:
    """The requests that are left of each client in the current window. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._leases: dict[str, Lease] = {}

    def spend(self, network: str) -> Lease:
        """Count a request of a client. The ``permits`` of one that has reached the limit are -1."""
        window = current_window()
        with self._lock:
            lease = self._leases.get(network)
            if lease is None or lease.window != window:
                if len(self._leases) >= CLIENTS_MAX:
                    self._leases.clear()
                lease = self._leases[network] = Lease(window, self.limit, 0)
            lease.permits = max(-1, lease.permits - 1)
            return lease
