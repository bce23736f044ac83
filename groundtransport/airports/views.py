"""JSON for the airport field of forms: the search of airports, and an airport's states and cities."""

from typing import Any

from pyramid.request import Request
from pyramid.view import view_config

from groundtransport.airports import lookup
from groundtransport.airports.names import named
from groundtransport.airports.states import states_of
from groundtransport.resources import Airport, Airports
from groundtransport.security import Permission


@view_config(context=Airports, request_method="GET", permission=Permission.VIEW, renderer="json")
def search(context: Airports, request: Request) -> dict[str, Any]:
    """Return up to 20 airports whose name, code or city contains every term of ``q``, best first."""
    values = request.GET.getall("q")
    rows = lookup.search(request.dbsession, values[0]) if len(values) == 1 else []
    return {
        "airports": [
            {"airport_name": named(row.name, row.code), "code": row.code, "city": row.city, "country": row.country}
            for row in rows
        ]
    }


@view_config(context=Airport, request_method="GET", permission=Permission.VIEW, renderer="json")
def show(context: Airport, request: Request) -> dict[str, Any]:
    """Return an airport's name, the states of its country, its cities, the likeliest ones, and the cities' states."""
    airport = context.airport
    cities = lookup.cities(request.dbsession, airport)
    return {
        "airport_name": airport.airport_name,
        "states": [{"code": state.code, "name": state.name} for state in states_of(airport.country)],
        "cities": [{"city_name": name} for name in cities.names],
        "likeliest": cities.likeliest,
        "city_states": dict(cities.states),
    }
