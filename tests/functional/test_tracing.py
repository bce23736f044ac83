"""Traces: spans of requests and of their statements, if OpenTelemetry is installed and configured."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.site import Client, Site

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADER = f"00-{TRACE}-{PARENT}-01"


@pytest.fixture
def spans(site: Site) -> Iterator[InMemorySpanExporter]:
    """What the application exports."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = site.registry["tracing"]
    before = tracing.tracer
    tracing.tracer = provider.get_tracer("tests")
    yield exporter
    tracing.tracer = before


def of_requests(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.kind == SpanKind.SERVER]


def test_a_request_has_a_span_with_its_statements(client: Client, spans: InMemorySpanExporter) -> None:
    answer = client.get("/admin/transit?q=secret")
    (request,) = of_requests(spans)
    assert request.name == "GET records.list.views.ListViews.html"
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["groundtransport.request_id"] == answer.headers["X-Request-Id"]
    statements = [span for span in spans.get_finished_spans() if span.kind == SpanKind.CLIENT]
    assert statements
    assert {span.parent.span_id for span in statements} == {request.context.span_id}
    assert {span.name for span in statements} <= {"SELECT", "WITH", "UPDATE", "SET"}
    assert "secret" not in "".join(span.to_json() for span in spans.get_finished_spans())


def test_the_trace_of_a_trusted_proxy_is_continued(site: Site, spans: InMemorySpanExporter) -> None:
    client = site.client()
    client.get("/healthz", traceparent=HEADER)
    assert of_requests(spans)[-1].parent is None
    site.registry["tracing"].is_proxy_trusted = True
    try:
        client.get("/healthz", traceparent=HEADER)
    finally:
        site.registry["tracing"].is_proxy_trusted = False
    span = of_requests(spans)[-1]
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)


def test_an_error_of_the_service_is_one_of_the_span(
    site: Site, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(site.registry["schema"]), "unknown", None)
    assert site.client().get("/readyz").status_int == 500
    assert of_requests(spans)[-1].status.status_code == StatusCode.ERROR
