"""The life that every kind shares: declared in one file a kind, lived here."""

from datetime import datetime

from pyramid.config import Configurator
from pyramid.renderers import JSON

from groundtransport.records.kind import add_kind


def includeme(config: Configurator) -> None:
    config.registry["kinds"] = {}
    config.add_directive("add_kind", add_kind)
    renderer = JSON()
    renderer.add_adapter(datetime, lambda moment, _: moment.isoformat())
    config.add_renderer("json", renderer)
    config.include("groundtransport.records.forms")
    config.scan("groundtransport.records")
