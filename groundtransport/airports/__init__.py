"""Airports, their cities and states: tables, loading, search and views."""

from pyramid.config import Configurator

from groundtransport.airports.lookup import by_code
from groundtransport.airports.models import Airport
from groundtransport.request import Request


def includeme(config: Configurator) -> None:
    config.add_request_method(_find_airport, "find_airport")
    config.scan("groundtransport.airports")


def _find_airport(request: Request, code: str) -> Airport | None:
    """Return the airport of ``/admin/airports/<code>``; None if there is none."""
    return by_code(request.dbsession, code)
