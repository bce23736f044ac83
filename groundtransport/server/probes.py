"""Health probes do not wait behind the requests of users."""

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

PROBES = ("/healthz", "/readyz")


class ProbeDispatcher:
    """Task dispatcher with one thread for health probes; all other requests go to ``users``, waitress' dispatcher.

    Without it a probe waits until a thread is free: seconds under load, and a load balancer then takes a working
    process out of service.
    """

    def __init__(self, users: ThreadedTaskDispatcher) -> None:
        self.users, self.probes = users, ThreadedTaskDispatcher()
        self.probes.set_thread_count(1)

    def add_task(self, channel: HTTPChannel) -> None:
        """Queue the oldest request of a connection."""
        path = getattr(channel.requests[0], "path", "")  # a request that could not be parsed has none
        (self.probes if path in PROBES else self.users).add_task(channel)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> object:  # noqa: FBT001, FBT002  # waitress'
        """Stop the threads of both; wait up to ``timeout`` seconds for each."""
        self.probes.shutdown(cancel_pending, timeout)
        return self.users.shutdown(cancel_pending, timeout)
