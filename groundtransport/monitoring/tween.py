"""Tween that measures each request and writes the access log.

The logger ``groundtransport.access`` writes one line for each request at the level INFO; the inis leave it off.
"""

import logging
import time
from collections.abc import Callable

from pyramid.httpexceptions import HTTPServiceUnavailable
from pyramid.response import Response

from groundtransport.monitoring import VIEW
from groundtransport.monitoring.statements import Statements, counted
from groundtransport.request import Registry, Request
from groundtransport.security import known_identity
from groundtransport.web.errors import UNAVAILABLE

access = logging.getLogger("groundtransport.access")

ARRIVED = "groundtransport.arrived"  # key in the WSGI environ: time.monotonic() when the request was complete
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}  # others are chosen by clients

Handler = Callable[[Request], Response]


def tween(handler: Handler, registry: Registry) -> Handler:
    metrics = registry["metrics"]
    if "tracing" in registry:
        handler = registry["tracing"].trace(handler)

    def measure(request: Request) -> Response:
        began = time.monotonic()
        with counted() as statements:
            response = handler(request)
        seconds = time.monotonic() - began
        view = request.environ.get(VIEW, "none")
        method = request.method if request.method in METHODS else "other"
        metrics.requests.labels(view, method, response.status_int).observe(seconds)
        metrics.statements.inc(statements.count)
        metrics.statement_seconds.inc(statements.seconds)
        if response.status_int == HTTPServiceUnavailable.code:
            metrics.unavailable.labels(request.environ.get(UNAVAILABLE, "other")).inc()
        if request.environ.get("retry.attempt", 0):
            metrics.retries.inc()
        elif ARRIVED in request.environ:
            metrics.queue.observe(began - request.environ[ARRIVED])
        if access.isEnabledFor(logging.INFO):
            access.info("request", extra={"fields": line(request, response, view, seconds, statements)})
        return response

    return measure


def line(request: Request, response: Response, view: str, seconds: float, statements: Statements) -> dict[str, object]:
    """Return the fields of a request in the access log: no path and no query, which hold personal data."""
    identity = known_identity(request)
    return {
        "request": request.id,
        "user_id": identity.user_id if identity else None,
        "method": request.method,
        "view": view,
        "status": response.status_int,
        "ms": round(seconds * 1000, 1),
        "statements": statements.count,
        "statement_ms": round(statements.seconds * 1000, 1),
        "bytes": response.content_length,
    }
