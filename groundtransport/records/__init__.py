"""List, search, forms, writer and views of every kind of record. A kind itself is declared in one module."""

from datetime import datetime
from typing import Any

import orjson
from pyramid.config import Configurator
from pyramid.renderers import JSON

from groundtransport.events import Change
from groundtransport.records.duplicates.subscriber import PairSubscriber
from groundtransport.records.kind import Kind, add_kind
from groundtransport.records.readiness import why_not_ready


def includeme(config: Configurator) -> None:
    """Register the directive ``add_kind``, the renderers, the views and the check behind ``/readyz``."""
    kinds: dict[str, Kind] = {}
    config.registry["kinds"] = kinds
    registry = config.registry
    registry["why_not_ready"] = lambda: why_not_ready(registry["engine"], registry["schema"], kinds.values())
    config.add_directive("add_kind", add_kind)
    renderer = JSON()
    renderer.add_adapter(datetime, lambda moment, _: moment.isoformat())
    config.add_renderer("json", renderer)
    config.add_renderer("rows", lambda _: render_rows)
    config.add_request_method("groundtransport.records.duplicates.warnings.flash_messages")
    config.add_subscriber(PairSubscriber(kinds), Change)
    config.include("groundtransport.records.form_templates")
    config.scan("groundtransport.records")


def render_rows(value: Any, system: Any) -> bytes:
    """Render JSON with orjson, for lists with many rows. Datetimes have the same format as in the other renderer."""
    system["request"].response.content_type = "application/json"
    return orjson.dumps(value)
