"""Reference data: airports, their cities, and the states of their countries."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from groundtransport.airports import lookup, nearby_cities
from groundtransport.airports.models import Airport as AirportRow
from groundtransport.airports.states import states_of
from groundtransport.api.cursors import Cursor, decode, encode
from groundtransport.api.parameters import next_url, read_limit, read_parameters, with_link
from groundtransport.api.view import Operation, api_view
from groundtransport.request import Request, View
from groundtransport.resources import Airport, Airports
from groundtransport.security import Permission

LIST = "airports"


@api_view(
    Operation("airport-page", parameters=("q", "limit", "cursor")),
    context=Airports,
    request_method="GET",
    permission=Permission.VIEW,
)
def airports(context: Airports, request: Request) -> dict[str, object]:
    """List the airports by code; with ``q``, the 20 that match best, best first."""
    given = read_parameters(request, ("q", "limit", "cursor"))
    limit, query = read_limit(given), select(AirportRow).where(AirportRow.withdrawn_at.is_(None))
    if given.get("q"):
        ids = [row.id for row in lookup.search(request.dbsession, given["q"])][:limit]
        rows_by_id = {row.id: row for row in request.dbsession.scalars(query.where(AirportRow.id.in_(ids)))}
        return {"items": [airport_json(rows_by_id[key]) for key in ids if key in rows_by_id], "next": None}
    after = decode(request, LIST, given["cursor"]).key if "cursor" in given else ""
    query = query.where(AirportRow.code > after).order_by(AirportRow.code).limit(limit)
    rows = request.dbsession.scalars(query).all()
    is_last = len(rows) < limit
    url = None if is_last else next_url(request, given, cursor=encode(request, LIST, Cursor(0, rows[-1].code)))
    return with_link(request, {"items": [airport_json(row) for row in rows], "next": url})


def airport_view(answer: str, name: str = "") -> Callable[[View], View]:
    """Return the decorator of a view of an airport; ``answer`` names the schema of its answer."""
    operation = Operation(answer, statuses=(404,))
    return api_view(operation, context=Airport, name=name, request_method="GET", permission=Permission.VIEW)


def airport_json(row: Any) -> dict[str, object]:
    """Return the JSON value of an airport."""
    return {
        "code": row.code,
        "icao": row.icao,
        "airport_name": row.airport_name,
        "city": row.city,
        "country": row.country,
        "latitude": row.latitude,
        "longitude": row.longitude,
    }


@airport_view("airport")
def airport(context: Airport, request: Request) -> dict[str, object]:
    """Read an airport by its IATA or ICAO code."""
    return airport_json(context.airport)


@airport_view("cities", name="cities")
def cities(context: Airport, request: Request) -> dict[str, object]:
    """List the cities of an airport: its own, and those of its country within 100 km. ``state`` is null if unknown."""
    result = nearby_cities.cities(request.dbsession, context.airport)
    return {"items": [{"name": name, "state": result.states.get(name)} for name in result.names]}


@airport_view("states", name="states")
def states(context: Airport, request: Request) -> dict[str, object]:
    """List the states of an airport's country (ISO 3166-2)."""
    return {"items": [{"code": state.code, "name": state.name} for state in states_of(context.airport.country)]}
