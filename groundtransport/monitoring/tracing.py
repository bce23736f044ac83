"""Traces by OpenTelemetry: a span for each request and for each of its SQL statements.

This module is included if OpenTelemetry's API is installed. ``opentelemetry-instrument`` configures its SDK by the
variables ``OTEL_*``; without it the API does nothing. OpenTelemetry's packages for Pyramid and SQLAlchemy are not used:
one stores the paths and queries of URLs, which are personal data, and the other does not support SQLAlchemy 2.1.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from opentelemetry import trace
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from pyramid.config import Configurator
from pyramid.response import Response
from sqlalchemy import Connection, Engine, ExceptionContext, event

from groundtransport.monitoring import VIEW
from groundtransport.request import Request

Handler = Callable[[Request], Response]
_SPAN = "statement_span"  # key of ``Connection.info``: the span of the statement that is being executed


class Tracing:
    """The spans of one application. With ``is_proxy_trusted``, requests continue the trace of their ``traceparent``."""

    def __init__(self, *, is_proxy_trusted: bool) -> None:
        self.tracer = trace.get_tracer("groundtransport", version("groundtransport"))
        self.is_proxy_trusted = is_proxy_trusted

    def trace(self, handler: Handler) -> Handler:
        """Return a handler that makes a span for each request. It holds no path, no query and no user."""

        def traced(request: Request) -> Response:
            context = extract(request.headers) if self.is_proxy_trusted else None
            with self.tracer.start_as_current_span(request.method, context, SpanKind.SERVER) as span:
                response = handler(request)
                _describe(span, request, response)
            return response

        return traced

    def listen(self, engine: Engine) -> None:
        """Make a span for each statement that an engine executes in a traced request."""
        event.listen(engine, "before_cursor_execute", self._begin)
        event.listen(engine, "after_cursor_execute", _end)
        event.listen(engine, "handle_error", _fail)

    def _begin(self, connection: Connection, cursor: Any, statement: str, *_: object) -> None:
        if not trace.get_current_span().is_recording():
            return
        text = {"db.system.name": connection.dialect.name, "db.query.text": statement}  # without the parameters
        verb = statement.split(None, 1)[0].upper()
        connection.info[_SPAN] = self.tracer.start_span(verb, kind=SpanKind.CLIENT, attributes=text)


def _describe(span: Span, request: Request, response: Response) -> None:
    view = request.environ.get(VIEW, "none")
    span.update_name(f"{request.method} {view}")
    span.set_attributes(
        {
            "http.request.method": request.method,
            "http.response.status_code": response.status_int,
            "code.function.name": view,
            "groundtransport.request_id": request.id,
        }
    )
    if response.status_int >= 500:
        span.set_status(Status(StatusCode.ERROR))


def _end(connection: Connection, *_: object) -> None:
    span: Span | None = connection.info.pop(_SPAN, None)
    if span is not None:
        span.end()


def _fail(context: ExceptionContext) -> None:
    """End the span of a statement that failed. The exception's text is left out: it may quote values."""
    span: Span | None = context.connection.info.pop(_SPAN, None) if context.connection is not None else None
    if span is not None:
        span.set_status(Status(StatusCode.ERROR, type(context.original_exception).__name__))
        span.end()


def includeme(config: Configurator) -> None:
    settings, replica = config.registry["settings"], config.registry["replica"]
    tracing = config.registry["tracing"] = Tracing(is_proxy_trusted=settings.trust_request_id)
    tracing.listen(config.registry["engine"])
    if replica:
        tracing.listen(replica.engine)
