"""JSON for the airport field of forms: the search of airports, and an airport's states and cities."""

from pyramid.view import view_config

from groundtransport import formats
from groundtransport.airports import lookup, nearby_cities, other_places
from groundtransport.airports.names import named
from groundtransport.airports.states import states_of
from groundtransport.db import AnyRow
from groundtransport.request import Request
from groundtransport.resources import Airport, Airports
from groundtransport.security import Permission


@view_config(context=Airports, request_method="GET", permission=Permission.VIEW, renderer="json")
def search(context: Airports, request: Request) -> dict[str, object]:
    """Return up to 20 airports that ``q`` may mean, best first; ``instead`` is a near text if ``q`` means none."""
    values = request.GET.getall("q")
    proposal = lookup.propose(request.dbsession, values[0]) if len(values) == 1 else lookup.Proposal(())
    airports = [_proposed(row) for row in proposal.airports]
    return {"airports": airports, "instead": proposal.instead} if proposal.instead else {"airports": airports}


def _proposed(row: AnyRow) -> dict[str, object]:
    """Return an entry of the list; ``closed_on`` stands only in that of a closed airport."""
    entry: dict[str, object] = {
        "airport_name": named(row.name, row.code),
        "code": row.code,
        "city": row.city,
        "country": row.country,
    }
    entry["country_name"] = formats.country(row.country)
    return entry | {"closed_on": row.closed_on.isoformat()} if row.closed_on else entry


@view_config(context=Airport, request_method="GET", permission=Permission.VIEW, renderer="json")
def show(context: Airport, request: Request) -> dict[str, object]:
    """Return an airport's name, the states of its country, its cities, the likeliest and further ones, their states."""
    request.response.vary = "Accept"  # browsers get a page: dashboard/airport_page.py
    airport = context.airport
    cities = nearby_cities.cities(request.dbsession, airport)
    return {
        "airport_name": airport.airport_name,
        "states": [{"code": state.code, "name": state.name} for state in states_of(airport.country)],
        "cities": [{"city_name": name} for name in cities.names],
        "likeliest": cities.likeliest,
        "further_cities": nearby_cities.further(request.dbsession, airport),
        "city_states": dict(cities.states),
    }


@view_config(context=Airport, name="places", request_method="GET", permission=Permission.VIEW, renderer="json")
def places(context: Airport, request: Request) -> dict[str, object]:
    """Return up to 20 places that ``q`` may mean: cities of the airport, further ones, and small ones with their km."""
    values = request.GET.getall("q")
    found = other_places.search(request.dbsession, context.airport, values[0]) if len(values) == 1 else []
    return {"places": [{"city_name": place.name, "km": place.km} for place in found]}
