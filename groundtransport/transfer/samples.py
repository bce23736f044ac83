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
    *("Alpha", "Blue", "Harbor", "Sunrise", "Metro", "Northern", "Eagle", "Crown", "Valley", "Pioneer", "Coral"),
    *("Summit", "Adams", "Baker", "Castillo", "Dubois", "Eriksen", "Fontaine", "Garcia", "Haas", "Ivanov", "Jensen"),
    *("Keller", "Lopes", "Moreau", "Novak", "Okafor", "Peralta", "Quiroga", "Rossi", "Santos", "Tanaka", "Ueda"),
    *("Vargas", "Weber", "Xu", "Young", "Zimmermann", "Lakeside", "Redwood", "Granite", "Atlas", "Comet", "Delta"),
    *("Falcon", "Gateway", "Horizon", "Liberty", "Orion", "Prairie"),
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
# A name that stands in 37 of a million records: something rare to search for.
RARE, RARE_EVERY = "Zephyrine", 27_027
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


class Sampler:
    """Makes rows for one kind; the database is asked once, at the beginning."""

    def __init__(self, dbsession: Session, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.chance = random.Random(f"{kind.name} {seed}")  # noqa: S311  # nosec B311 # nothing secret
        known = (Airport.withdrawn_at.is_(None), Airport.name.contains("International"))  # where buses are likeliest
        airports = list(dbsession.scalars(select(Airport).where(*known).order_by(Airport.code)))
        self.airports = self.chance.sample(airports, min(AIRPORTS, len(airports)))
        self.cities = {airport.code: lookup.cities(dbsession, airport) for airport in self.airports}
        for airport in self.airports:
            dbsession.expunge(airport)

    def rows(self, number: int) -> Iterator[dict[str, str]]:
        """Yield ``number`` rows of texts, as a file would hold them."""
        for count in range(1, number + 1):
            airport = self.airports[int(len(self.airports) * self.chance.random() ** 3)]
            row = _row(self.chance, airport, self.cities[airport.code])
            if count % RARE_EVERY == 0:
                row["company_name"] = f"{RARE} {row['company_name']}"
            yield {name: text for name, text in row.items() if name in self.kind.fields}


def _row(chance: random.Random, airport: Airport, cities: lookup.Cities) -> dict[str, str]:
    first = chance.choice(FIRST)
    if chance.random() < 0.6:
        first = f"{first} & {chance.choice(FIRST)}"
    company = f"{first} {chance.choice(SECOND)}{chance.choice(LEGAL)}"
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
