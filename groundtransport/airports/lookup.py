"""Find airports by code, name or text, and the cities near an airport."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, bindparam, case, func, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport, City
from groundtransport.airports.name_index import Directory
from groundtransport.airports.names import code_of, named
from groundtransport.airports.states import find_state
from groundtransport.cache import TTLCache
from groundtransport.text import fold

SUGGESTIONS = 20
RADIUS = 100  # km; covers the city in 91 % of real operators' records
FEWEST = 5
NEAREST = 10
LIKELIEST = 5
EARTH = 6371.0  # km, mean radius
KM_PER_DEGREE = 111.2  # of latitude
HALFWAY_ROUND = 20_000  # km; the greatest distance on Earth

# In the list of airports these are states of the US, in GeoNames countries.
TERRITORIES = {"Puerto Rico": "PR", "Virgin Islands": "VI"}


_BY_IATA, _BY_ICAO = (
    select(Airport).where(column == bindparam("code")).order_by(Airport.id).limit(1)
    for column in (Airport.code, Airport.icao)
)


# Airports are changed by commands only, about once a month. A missing code is not cached.
AIRPORTS: TTLCache[Airport] = TTLCache(seconds=60, most=500)


def by_code(dbsession: Session, code: str) -> Airport | None:
    """Return the airport of an IATA or ICAO code in upper or lower case; None if there is none.

    The object is cached for a minute, shared by threads, and detached from any session.
    """
    code = code.upper()
    if not (code.isascii() and code.isalnum() and len(code) in (3, 4)):
        return None
    engine = dbsession.get_bind().engine
    airport = AIRPORTS.get(engine, code)
    if airport is None:
        airport = dbsession.scalars(_BY_IATA if len(code) == 3 else _BY_ICAO, {"code": code}).first()
        if airport is not None:
            dbsession.expunge(airport)
            AIRPORTS.put(engine, code, airport)
    return airport


def by_airport_name(dbsession: Session, airport_name: str) -> Airport | None:
    """Return the airport of a string ``<name> (<code>)``, found by the code alone; None if there is none."""
    code = code_of(airport_name)
    return by_code(dbsession, code) if code else None


_AIRPORTS: Any = Airport.__table__
_IS_STRIP = case((_AIRPORTS.c.search_text.contains("international"), 0), else_=1)
_BIGGEST_FIRST = (
    select(*_AIRPORTS.c["id", "population", "search_text"])
    .where(_AIRPORTS.c.withdrawn_at.is_(None))
    .order_by(_AIRPORTS.c.population.desc(), _IS_STRIP, _AIRPORTS.c.name)
)
_NEWEST = select(func.max(_AIRPORTS.c.id))
_BY_IDS = select(*_AIRPORTS.c["id", "code", "name", "city", "country"]).where(
    _AIRPORTS.c.id.in_(bindparam("ids", expanding=True)), _AIRPORTS.c.withdrawn_at.is_(None)
)
DIRECTORIES: TTLCache[Directory] = TTLCache(seconds=600, most=1)
_DIRECTORY_LOCK = threading.Lock()


def search(dbsession: Session, text: str) -> Sequence[Row[Any]]:
    """Return up to 20 airports whose name, code or city contains every term of ``text``, best first.

    Each row has ``id``, ``code``, ``name``, ``city`` and ``country``. Additions and withdrawals take effect
    immediately; renamed and reinstated airports are found within ten minutes.
    """
    ids = _directory(dbsession).find(text, SUGGESTIONS)
    rows = {row.id: row for row in dbsession.execute(_BY_IDS, {"ids": ids})} if ids else {}
    return [rows[airport_id] for airport_id in ids if airport_id in rows]


def suggestions(dbsession: Session, text: str) -> list[str]:
    """Return the names ``<name> (<code>)`` of the airports that match the text or its part after the last bracket."""
    rows = search(dbsession, text) or search(dbsession, text.rpartition("(")[2])
    return [named(row.name, row.code) for row in rows]


def _directory(dbsession: Session) -> Directory:
    """Return the cached directory, built anew after ten minutes or after an airport was added."""
    engine, newest = dbsession.get_bind().engine, dbsession.scalar(_NEWEST)
    directory = DIRECTORIES.get(engine, newest)
    if directory is None:
        with _DIRECTORY_LOCK:  # only one thread builds it
            directory = DIRECTORIES.get(engine, newest)
            if directory is None:
                directory = Directory(dbsession.execute(_BIGGEST_FIRST))
                DIRECTORIES.put(engine, newest, directory)
    return directory


@dataclass(frozen=True)
class Cities:
    """The cities of an airport: all ``names`` in alphabetical order, and the ``likeliest``, best first.

    ``states`` maps names to ISO 3166-2 codes, as far as they are known.
    """

    names: tuple[str, ...] = ()
    likeliest: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)


# Cities are changed by commands only.
_CITIES: TTLCache[Cities] = TTLCache(seconds=60, most=16)


def cities(dbsession: Session, airport: Airport) -> Cities:
    """Return the airport's own city and the cities of its country within 100 km, or the nearest ten if they are few.

    The result is cached for a minute.
    """
    engine = dbsession.get_bind().engine
    key = (airport.id, airport.city, airport.state, airport.country, airport.latitude, airport.longitude)
    result = _CITIES.get(engine, key)
    if result is None:
        result = _find_cities(dbsession, airport)
        _CITIES.put(engine, key, result)
    return result


def _find_cities(dbsession: Session, airport: Airport) -> Cities:
    near = _near(dbsession, airport)
    own = {airport.city} if airport.city else set()
    names = sorted({city.name for city, _ in near} | own, key=_alphabetical)
    weighed = sorted(near, key=lambda pair: pair[0].population * math.exp(-pair[1] / 40), reverse=True)
    states = {city.name: city.state for city, _ in reversed(weighed) if city.state}  # the likeliest of one name
    if (state := find_state(airport.country, airport.state)) and airport.city not in states:
        states[airport.city] = state.code
    return Cities(tuple(names), tuple(dict.fromkeys(city.name for city, _ in weighed))[:LIKELIEST], states)


@lru_cache(maxsize=4_000)  # one airport after the other has the same cities
def _alphabetical(name: str) -> tuple[str, str]:
    return fold(name), name


Distances = Sequence[tuple[Any, float]]


def _near(dbsession: Session, airport: Airport) -> Distances:
    near: Distances = [pair for pair in _within(dbsession, airport, RADIUS) if pair[1] <= RADIUS]
    reach = RADIUS
    if len(near) >= FEWEST:
        return near
    while len(near) < NEAREST and reach < HALFWAY_ROUND:
        reach *= 4
        near = [pair for pair in _within(dbsession, airport, reach) if pair[1] <= reach]
    return sorted(near, key=lambda pair: pair[1])[:NEAREST]


_IN_COUNTRY = select(City.name, City.latitude, City.longitude, City.population, City.state).where(
    City.country == bindparam("country"), City.latitude.between(bindparam("south"), bindparam("north"))
)
_IN_BOX = _IN_COUNTRY.where(City.longitude.between(bindparam("west"), bindparam("east")))


def _within(dbsession: Session, airport: Airport, km: float) -> Distances:
    """Return the cities of the airport's country in the bounding box of the radius ``km``, with their distances."""
    box = _box(airport, km)
    rows = dbsession.execute(_IN_BOX if "west" in box else _IN_COUNTRY, {"country": geonames_country(airport), **box})
    here = airport.latitude, airport.longitude
    return [(city, distance(here, (city.latitude, city.longitude))) for city in rows]


def geonames_country(airport: Airport) -> str:
    """Return the country code that GeoNames uses for the airport's cities."""
    return TERRITORIES.get(airport.state, airport.country) if airport.country == "US" else airport.country


def _box(airport: Airport, km: float) -> dict[str, float]:
    """Return the sides of the bounding box in degrees; without west and east if it crosses the date line or a pole."""
    reach = km / KM_PER_DEGREE
    box = {"south": airport.latitude - reach, "north": airport.latitude + reach}
    widest = math.cos(math.radians(min(90, abs(airport.latitude) + reach)))
    sideways = reach / widest if widest > 0.01 else 360
    if abs(airport.longitude) + sideways < 180:
        box |= {"west": airport.longitude - sideways, "east": airport.longitude + sideways}
    return box


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the great-circle distance in km of two points (latitude, longitude) in degrees, by haversine."""
    a, b = math.radians(one[0]), math.radians(other[0])
    half_latitude = math.sin((b - a) / 2) ** 2
    half_longitude = math.sin(math.radians(other[1] - one[1]) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(min(1.0, half_latitude + math.cos(a) * math.cos(b) * half_longitude)))
