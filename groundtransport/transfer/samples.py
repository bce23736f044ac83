"""Generate realistic sample records at real airports, for demonstrations and benchmarks.

The same seed gives the same rows.
"""

import random
from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import nearby_cities
from groundtransport.airports.models import Airport
from groundtransport.airports.states import find_state
from groundtransport.records.kind import SOURCE, VALIDITY, Kind
from groundtransport.records.telephone import sample_number

AIRPORTS = 400  # number of airports in the samples; the first are far more frequent than the last
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
# A name in 37 of a million records, for searches with few results.
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
    """Generates rows for one kind. Only the constructor queries the database."""

    def __init__(self, dbsession: Session, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.random = random.Random(f"{kind.name} {seed}")  # noqa: S311  # nosec B311 # nothing secret
        large = (Airport.withdrawn_at.is_(None), Airport.name.contains("International"))
        airports = list(dbsession.scalars(select(Airport).where(*large).order_by(Airport.code)))
        self.airports = self.random.sample(airports, min(AIRPORTS, len(airports)))
        self.cities = {airport.code: nearby_cities.cities(dbsession, airport) for airport in self.airports}
        for airport in self.airports:
            dbsession.expunge(airport)

    def rows(self, number: int) -> Iterator[dict[str, str]]:
        """Yield ``number`` rows that map field names to texts, as a file has them."""
        for count in range(1, number + 1):
            airport = self.airports[int(len(self.airports) * self.random.random() ** 3)]
            row = _row(self.random, airport, self.cities[airport.code])
            if count % RARE_EVERY == 0:
                row["company_name"] = f"{RARE} {row['company_name']}"
            for name, node in self.kind.fields.items():
                if name not in row and node.group not in (SOURCE, VALIDITY):
                    row[name] = node.sample(self.random, airport.country)
            yield {name: text for name, text in row.items() if name in self.kind.fields}


def _row(generator: random.Random, airport: Airport, cities: nearby_cities.Cities) -> dict[str, str]:
    first = generator.choice(FIRST)
    if generator.random() < 0.6:
        first = f"{first} & {generator.choice(FIRST)}"
    company = f"{first} {generator.choice(SECOND)}{generator.choice(LEGAL)}"
    state = find_state(airport.country, airport.state) if airport.state else None
    host = "".join(char for char in company.lower() if char.isalnum() and char.isascii())
    number = generator.randrange(1, 1000)
    return {
        "airport_name": airport.airport_name,
        "company_name": company,
        "company_address": f"{number} {generator.choice(STREETS)}",
        "company_phone1": sample_number(generator, airport.country),
        "company_phone2": "",
        "company_phone3": "",
        "company_link": f"https://www.{host}.example/",
        "route_name": f"Route {number}" if generator.random() < 0.8 else "",
        "place": generator.choice(PLACES),
        "city": generator.choice(cities.likeliest or cities.names or ("",)),
        "state": state.code if state else "",
        "zip_code": f"{generator.randrange(10000, 99999)}",
        "description": f"Every {generator.choice((10, 15, 20, 30, 60))} minutes." if generator.random() < 0.5 else "",
        "status": "active" if generator.random() < 0.9 else "inactive",
    }
