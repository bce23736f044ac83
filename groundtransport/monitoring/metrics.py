"""The metrics of one process, in the text format of Prometheus."""

from importlib.metadata import version
from typing import Any

from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
)

from groundtransport.events import RecordChanged

PREFIX = "groundtransport_"
LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # seconds, upper bounds of the histogram


class Metrics:
    """The metrics; ``registry`` holds them for the exposition. ``pool`` is the engine's connection pool."""

    def __init__(self, pool: Any) -> None:
        self.registry = CollectorRegistry()
        for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
            self.registry.register(collector)
        self.requests = Histogram(
            f"{PREFIX}request_seconds",
            "Time of a request in the application, without its time in the queue",
            ("view", "method", "status"),
            buckets=LATENCIES,
            registry=self.registry,
        )
        self.queue = Histogram(
            f"{PREFIX}queue_seconds",
            "Time from the arrival of a request to its first thread",
            buckets=LATENCIES,
            registry=self.registry,
        )
        self.statements = self._counter("statements", "SQL statements of requests")
        self.statement_seconds = self._counter("statement_seconds", "Seconds of the SQL statements of requests")
        self.retries = self._counter("retries", "Requests that were tried again after a lost connection or a deadlock")
        self.unavailable = self._counter("unavailable", "Requests answered with 503 by reason", "reason")
        self.changes = self._counter("changes", "Changes of records", "kind", "action")
        self._gauge("pool_connections", "Open connections to the database").set_function(
            lambda: pool.checkedin() + pool.checkedout()
        )
        self._gauge("pool_connections_in_use", "Connections to the database in use").set_function(pool.checkedout)
        self._gauge("info", "1; the version is a label", "version").labels(version("groundtransport")).set(1)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(PREFIX + name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(PREFIX + name, text, labels, registry=self.registry)

    def count_change(self, event: RecordChanged) -> None:
        """Count a committed change."""
        self.changes.labels(event.kind, event.action).inc()
