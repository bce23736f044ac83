"""Airports, their cities and states: tables, loading, search and views."""

from typing import Any

from pyramid.config import Configurator

from groundtransport.airports.lookup import by_code


def includeme(config: Configurator) -> None:
    config.add_request_method(_find_airport, "find_airport")
    config.scan("groundtransport.airports")


def _find_airport(request: Any, code: str) -> Any:
    """Return the airport of ``/admin/airports/<code>``; None if there is none."""
    return by_code(request.dbsession, code)
