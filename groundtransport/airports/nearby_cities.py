"""Find the cities near an airport: the proposals of a form, and the cities on an airport's page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport, City
from groundtransport.airports.states import find_state
from groundtransport.cache import TTLCache
from groundtransport.db import AnyRow
from groundtransport.text import fold

FURTHER, LARGE = 250, 100_000  # km, and the inhabitants of a city that is offered so far away
RADIUS = 100  # km; covers the city in 91 % of real operators' records
FEWEST = 5
NEAREST = 10
LIKELIEST = 5
EARTH = 6371.0  # km, mean radius
KM_PER_DEGREE = 111.2  # of latitude
HALF_CIRCUMFERENCE = 20_000  # km; the greatest distance of two places on Earth

# In the list of airports these are states of the US, in GeoNames countries.
TERRITORIES = {"Puerto Rico": "PR", "Virgin Islands": "VI"}


@dataclass(frozen=True)
class Cities:
    """The cities of an airport: all ``names`` in alphabetical order, and the ``likeliest``, best first.

    ``states`` maps names to ISO 3166-2 codes, as far as they are known.
    """

    names: tuple[str, ...] = ()
    likeliest: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)


# Cities are changed by commands only. Finding those of an airport takes up to 7 ms, and a key stroke needs them.
CACHED = 600  # seconds
_CITIES: TTLCache[Cities] = TTLCache(seconds=CACHED, max_size=64)


def cities(dbsession: Session, airport: Airport) -> Cities:
    """Return the airport's own city and the cities of its country within 100 km, or the nearest ten if they are few.

    The result is cached for ten minutes.
    """
    engine = dbsession.get_bind().engine
    key = (airport.id, airport.city, airport.state, airport.country, airport.latitude, airport.longitude)
    result = _CITIES.get(engine, key)
    if result is None:
        result = _find_cities(dbsession, airport)
        _CITIES.put(engine, key, result)
    return result


def _find_cities(dbsession: Session, airport: Airport) -> Cities:
    near = listed(dbsession, airport)
    own = {airport.city} if airport.city else set()
    names = sorted({city.name for city, _ in near} | own, key=_alphabetical)
    weighed = sorted(near, key=_weight, reverse=True)
    states = {city.name: city.state for city, _ in reversed(weighed) if city.state}  # the likeliest of one name
    if (state := find_state(airport.country, airport.state)) and airport.city not in states:
        states[airport.city] = state.code
    return Cities(tuple(names), tuple(dict.fromkeys(city.name for city, _ in weighed))[:LIKELIEST], states)


def _is_within(sides: str) -> ColumnElement[bool]:
    """Return the condition of the cities in a box, whose sides are the parameters ``<sides>_south`` and so on."""
    return and_(
        City.latitude.between(bindparam(f"{sides}_south"), bindparam(f"{sides}_north")),
        City.longitude.between(bindparam(f"{sides}_west"), bindparam(f"{sides}_east")),
    )


# The smaller box leaves out the small cities far away: at Brussels 1,600 of 1,900 rows, which took 4 ms.
_IN_FURTHER_BOX = select(City.name, City.latitude, City.longitude, City.population, City.country).where(
    _is_within("far"), or_(City.population >= LARGE, and_(City.country != bindparam("country"), _is_within("near")))
)
# Names of further cities. Reading them takes up to 30 ms, so an import does not.
_FURTHER: TTLCache[tuple[str, ...]] = TTLCache(seconds=CACHED, max_size=64)


def further(dbsession: Session, airport: Airport) -> tuple[str, ...]:
    """Return the cities beyond ``cities`` that a free text may mean, the likeliest first.

    They are across a border within 100 km, or have 100,000 inhabitants within 250 km. The result is
    cached for ten minutes.
    """
    engine, key = dbsession.get_bind().engine, (airport.id, airport.latitude, airport.longitude)
    result = _FURTHER.get(engine, key)
    if result is None:
        result = _find_further(dbsession, airport)
        _FURTHER.put(engine, key, result)
    return result


def _find_further(dbsession: Session, airport: Airport) -> tuple[str, ...]:
    box = {**_sides("far", airport, FURTHER), **_sides("near", airport, RADIUS), "country": geonames_country(airport)}
    here, known = (airport.latitude, airport.longitude), set(cities(dbsession, airport).names)
    pairs = [
        (city, km)
        for city in dbsession.execute(_IN_FURTHER_BOX, box)
        if (km := distance(here, (city.latitude, city.longitude))) <= (FURTHER if city.population >= LARGE else RADIUS)
        and city.name not in known
    ]
    return tuple(dict.fromkeys(city.name for city, _km in sorted(pairs, key=_weight, reverse=True)))


def _sides(name: str, airport: Airport, km: float) -> dict[str, float]:
    """Return the parameters of ``_is_within``: those of all longitudes at the date line."""
    sides = {"west": -180.0, "east": 180.0, **bounding_box(airport, km)}
    return {f"{name}_{side}": degrees for side, degrees in sides.items()}


Distances = Sequence[tuple[AnyRow, float]]


def nearby(dbsession: Session, airport: Airport, most: int) -> Distances:
    """Return up to ``most`` cities (of the table City) that people may mean at an airport, with their distances in km.

    The biggest and nearest come first.
    """
    near = sorted(listed(dbsession, airport), key=_weight, reverse=True)
    return list({city.name: (city, km) for city, km in reversed(near)}.values())[::-1][:most]


def _weight(pair: tuple[AnyRow, float]) -> float:
    """Return how likely a city is meant at an airport: by its population and its distance."""
    city, km = pair
    weight: float = city.population * math.exp(-km / 40)
    return weight


@lru_cache(maxsize=4_000)  # one airport after the other has the same cities
def _alphabetical(name: str) -> tuple[str, str]:
    return fold(name.replace("'", " ")), name  # as the letter after it: L'Haÿ before La Celle


def listed(dbsession: Session, airport: Airport) -> Distances:
    """Return the rows of the airport's ``cities``, but for its own city if the table lacks it, with their distances."""
    near: Distances = [pair for pair in _within(dbsession, airport, RADIUS) if pair[1] <= RADIUS]
    reach = RADIUS
    if len(near) >= FEWEST:
        return near
    while len(near) < NEAREST and reach < HALF_CIRCUMFERENCE:
        reach *= 4
        near = [pair for pair in _within(dbsession, airport, reach) if pair[1] <= reach]
    return sorted(near, key=lambda pair: pair[1])[:NEAREST]


_IN_COUNTRY = select(City.name, City.latitude, City.longitude, City.population, City.state).where(
    City.country == bindparam("country"), City.latitude.between(bindparam("south"), bindparam("north"))
)
_IN_BOX = _IN_COUNTRY.where(City.longitude.between(bindparam("west"), bindparam("east")))


def _within(dbsession: Session, airport: Airport, km: float) -> Distances:
    """Return the cities of the airport's country in the bounding box of the radius ``km``, with their distances."""
    box = bounding_box(airport, km)
    rows = dbsession.execute(_IN_BOX if "west" in box else _IN_COUNTRY, {"country": geonames_country(airport), **box})
    here = airport.latitude, airport.longitude
    return [(city, distance(here, (city.latitude, city.longitude))) for city in rows]


def geonames_country(airport: Airport) -> str:
    """Return the country code that GeoNames uses for the airport's cities."""
    return TERRITORIES.get(airport.state, airport.country) if airport.country == "US" else airport.country


def bounding_box(airport: Airport, km: float) -> dict[str, float]:
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
