"""The API for programs: ``/api/v1``, over the same contexts, schemas and writer as the pages, in JSON."""

from pyramid.config import Configurator

from groundtransport.api.view import render_json


def includeme(config: Configurator) -> None:
    config.add_renderer("api_json", lambda _: render_json)
    config.scan("groundtransport.api")
