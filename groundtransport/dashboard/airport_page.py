"""``/admin/airports/<code>`` for browsers: an airport, its position, its cities, and the records of all kinds there."""

from dataclasses import dataclass
from typing import Any

from pyramid.view import view_config

from groundtransport import formats
from groundtransport.airports import edits, locator_map, lookup, nearby_cities
from groundtransport.airports.states import find_state
from groundtransport.dashboard import statistics
from groundtransport.records.doubles.urls import pairs_url
from groundtransport.records.duplicates import pair_list
from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.kind import Kind, label_of, single_choice_fields
from groundtransport.records.list import pages
from groundtransport.records.list.query import ListQuery
from groundtransport.records.urls import create_url, list_url
from groundtransport.records.validity import CURRENT, STATES
from groundtransport.request import Request
from groundtransport.resources import Admin, Airport
from groundtransport.security import Permission

SHOWN = 10  # records of a kind
CITIES = 12
ON_MAP = 40  # cities


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record of the airport. ``choices`` are the name, code and title of each of its choices, such as its status."""

    label: str
    details: list[str]
    choices: list[tuple[str, str, str]]
    url: str


@dataclass(frozen=True, slots=True)
class KindAtAirport:
    """The newest records of a kind at an airport; ``create_url`` is "" without the permission."""

    kind: Kind
    number: int
    records: list[ShownRecord]
    url: str
    create_url: str
    doubles: int  # pairs
    doubles_url: str
    gaps: list[tuple[str, int, str]]  # text filters without a value, with the number of records and the list's URL


@view_config(
    context=Airport,
    request_method="GET",
    html=True,
    permission=Permission.VIEW,
    renderer="groundtransport:dashboard/templates/airport.jinja2",
)
def airport_page(context: Airport, request: Request) -> dict[str, object]:
    """Render the airport, its maps and the newest records of each kind there."""
    airport, dbsession = context.airport, request.dbsession
    near = nearby_cities.nearby(dbsession, airport, ON_MAP)
    state = find_state(airport.country, airport.state)
    request.response.vary = "Accept"
    return {
        "airport": airport,
        "state": state.name if state else airport.state,
        "country": formats.country(airport.country),
        "other_names": edits.other_names(airport, edits.fetch(dbsession, airport.id)),
        "may_edit": bool(request.has_permission(Permission.AIRPORTS, context)),
        "coordinates": locator_map.coordinates(airport.latitude, airport.longitude),
        "globe": locator_map.on_globe(airport.latitude, airport.longitude),
        "places": locator_map.surroundings(airport, near),
        "reach": locator_map.REACH,
        "cities": [(city.name, city.population, round(km)) for city, km in near[:CITIES]],
        "successor": lookup.by_code(dbsession, airport.replaced_by) if airport.replaced_by else None,
        "kinds_here": [_at_airport(request, kind, airport) for kind in request.registry["kinds"].values()],
    }


def _at_airport(request: Request, kind: Kind, airport: Any) -> KindAtAirport:
    query = ListQuery(filters={"airport_code": airport.code}, page_size=SHOWN)
    page = pages.page(request.dbsession, kind, query)
    state = f"airport_code={airport.code}"
    collection = Admin(request, "admin")[kind.name]
    may_create = airport.withdrawn_at is None and request.has_permission(Permission.CREATE, collection)
    records = [_record(request, kind, row, state) for row in page.rows]
    url = create_url(kind, state) if may_create else ""
    pairs = PairQuery(airport.code)
    return KindAtAirport(
        kind,
        page.filtered,
        records,
        list_url(request, kind, state),
        url,
        pair_list.count(request.dbsession, kind, pairs),
        pairs_url(kind, pairs),
        _gaps(request, kind, airport.code),
    )


def _gaps(request: Request, kind: Kind, code: str) -> list[tuple[str, int, str]]:
    """Return what records of the airport lack; gaps that no record has are left out."""
    found = []
    for gap in statistics.gaps(request.dbsession, kind, code):
        if gap.number:
            state = f"airport_code={code}&missing={gap.filter}"
            found.append((gap.filter, gap.number, list_url(request, kind, state)))
    return found


def _record(request: Request, kind: Kind, row: dict[str, Any], state: str) -> ShownRecord:
    choices = [name for name in single_choice_fields(kind) if row[name] is not None]
    apart = {"airport_name", kind.label, *choices}
    names = [name for name in kind.columns if name not in apart and row[name] is not None]
    badges = {name: (name, row[name], request.translate(kind.fields[name].shown(row[name]))) for name in choices}
    if row["validity"] != CURRENT and kind.is_active(row):
        badges[kind.status_field] = ("status", row["validity"], request.translate(STATES[row["validity"]]))
    return ShownRecord(
        label_of(kind, row, row["id"]),
        [request.translate(kind.fields[name].shown(row[name])) for name in names],
        list(badges.values()),
        list_url(request, kind, f"{state}&view={row['id']}"),
    )
