"""A listener of its own for monitoring: ``/metrics``, ``/healthz`` and ``/readyz``, without users' requests."""

import threading
from collections.abc import Callable, Iterable

from prometheus_client import make_wsgi_app
from pyramid.router import Router

from groundtransport.server.listening import listen
from groundtransport.server.probes import PROBES

METRICS = "/metrics"

StartResponse = Callable[[str, list[tuple[str, str]]], object]


class MonitoringApp:
    """WSGI application for monitoring: the probes of ``app`` and the metrics of its registry, and no other path."""

    def __init__(self, app: Router) -> None:
        self.app, self.metrics = app, make_wsgi_app(app.registry["metrics"].registry)
        self.host = app.registry["settings"].hosts[0]

    def __call__(self, environ: dict[str, object], start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path in PROBES:  # monitoring connects to an IP address, which is none of the service's host names
            body: Iterable[bytes] = self.app({**environ, "HTTP_HOST": self.host}, start_response)
        elif path == METRICS:
            body = self.metrics(environ, start_response)
        else:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            body = [b"not found"]
        return body


def start_monitoring(app: Router, address: str) -> None:
    """Serve monitoring on ``address`` (``host:port``) in a daemon thread. Raise StartError if it cannot listen."""
    server = listen(MonitoringApp(app), {}, {"listen": address, "threads": "2", "ident": ""})
    threading.Thread(target=server.run, name="monitoring", daemon=True).start()
