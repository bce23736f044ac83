"""Records that look real, at real airports, for demonstrations and benchmarks: the same seed gives the same rows."""

import random
from collections.abc import Iterator

import phonenumbers
from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import lookup
from groundtransport.airports.models import Airport
from groundtransport.airports.states import find_state
from groundtransport.records.kind import Kind

AIRPORTS = 400  # the number of airports that records spread over, the first far more often than the last
FIRST = (
    "Alpha",
    "Blue Line",
    "Harbor",
    "Sunrise",
    "Metro",
    "Northern",
    "Eagle",
    "Crown",
    "Valley",
    "Pioneer",
    "Coral",
    "Summit",
)
SECOND = (
    "Coaches",
    "Shuttle",
    "Transit",
    "Express",
    "Bus Lines",
    "Airport Link",
    "Motor Coach",
    "Limousine",
    "Rapid",
    "Tours",
)
LEGAL = ("", "", "", " Ltd", " Inc.", " & Sons", " GmbH", " S.A.")
STREETS = (
    "Terminal Drive",
    "Airport Road",
    "Station Street",
    "Main Street",
    "Harbor Way",
    "Park Avenue",
    "Depot Lane",
)
PLACES = (
    "Terminal 1",
    "Terminal 2, bay 4",
    "Ground transport center",
    "Arrivals, door 6",
    "Railway station",
    "Car park B",
)


def rows(dbsession: Session, kind: Kind, number: int, seed: int) -> Iterator[dict[str, str]]:
    """Yield ``number`` rows of texts, as a file would hold them."""
    chance = random.Random(f"{kind.name} {seed}")  # noqa: S311  # nothing secret
    known = (Airport.withdrawn_at.is_(None), Airport.name.contains("International"))  # where buses are likeliest
    airports = list(dbsession.scalars(select(Airport).where(*known).order_by(Airport.code)))
    airports = chance.sample(airports, min(AIRPORTS, len(airports)))
    cities = {airport.code: lookup.cities(dbsession, airport) for airport in airports}
    for _ in range(number):
        airport = airports[int(len(airports) * chance.random() ** 3)]
        row = _row(chance, airport, cities[airport.code])
        yield {name: text for name, text in row.items() if name in kind.fields}


def _row(chance: random.Random, airport: Airport, cities: lookup.Cities) -> dict[str, str]:
    company = f"{chance.choice(FIRST)} {chance.choice(SECOND)}{chance.choice(LEGAL)}"
    state = find_state(airport.country, airport.state) if airport.state else None
    host = "".join(char for char in company.lower() if char.isalnum() and char.isascii())
    number = chance.randrange(1, 1000)
    return {
        "airport_name": airport.airport_name,
        "company_name": company,
        "company_address": f"{number} {chance.choice(STREETS)}",
        "company_phone1": _phone(chance, airport.country),
        "company_link": f"https://www.{host}.example/",
        "route_name": f"Route {number}" if chance.random() < 0.8 else "",
        "place": chance.choice(PLACES),
        "city": chance.choice(cities.likeliest or cities.names or ("",)),
        "state": state.code if state else "",
        "zip_code": f"{chance.randrange(10000, 99999)}",
        "description": f"Every {chance.choice((10, 15, 20, 30, 60))} minutes." if chance.random() < 0.5 else "",
        "status": "active" if chance.random() < 0.9 else "inactive",
    }


def _phone(chance: random.Random, country: str) -> str:
    example = phonenumbers.example_number(country)
    if example is None:
        return ""
    text = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return text[:-4] + "".join(str(chance.randrange(10)) if char.isdigit() else char for char in text[-4:])
