"""Find places at an airport by what somebody types: its cities, further ones, and small ones nearby.

A place that is none of the airport's cities is another place; the nearest of the cities says where it lies.
"""

from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process
from sqlalchemy import ColumnElement, Text, bindparam, or_, select
from sqlalchemy.orm import Session

from groundtransport.airports import nearby_cities
from groundtransport.airports.models import Airport, City, SmallCity
from groundtransport.airports.nearby_cities import FURTHER, bounding_box, distance
from groundtransport.cache import TTLCache
from groundtransport.db import AnyRow, AnySelect
from groundtransport.text import fold

NEAR = 50  # km within which small cities are offered
MOST = 20  # places that are offered
ALIKE = 85  # percent of equal letters, from which a name is probably a misspelled one
TYPED_MAX = 120  # characters


@dataclass(frozen=True)
class OfferedPlace:
    """A place that is offered; ``km`` is the distance of a small city from the airport, None for any other place."""

    name: str
    km: int | None = None


@dataclass(frozen=True)
class NearestCity:
    """The one of an airport's cities that is nearest to another place.

    ``km`` is their distance. It is None for a place that is not known: the city is then the one with a name alike
    (``is_alike``), else the one nearest to the airport.
    """

    name: str
    km: int | None = None
    is_alike: bool = False


def search(dbsession: Session, airport: Airport, text: str) -> list[OfferedPlace]:
    """Return up to MOST places with a word that begins like ``text``, without regard to case and accents.

    The airport's cities come first, the likeliest before all, then further ones, then small ones, the nearest first.
    """
    key = place_key(text[:TYPED_MAX])
    if not key:
        return []
    cities, further = nearby_cities.cities(dbsession, airport), nearby_cities.further(dbsession, airport)
    names = (*cities.likeliest, *cities.names, *further)
    places = {name: OfferedPlace(name) for name in names if f" {key}" in f" {place_key(name)}"}
    if len(places) < MOST:
        for row, km in _near(dbsession, airport, _BEGINS, NEAR, begin=_like(key), word=f"% {_like(key)}"):
            places.setdefault(row.name, OfferedPlace(row.name, round(km)))
    return list(places.values())[:MOST]


def nearest_city(dbsession: Session, airport: Airport, text: str) -> NearestCity | None:
    """Return the one of the airport's cities that is nearest to another place; None if it has no city.

    The result is cached for a minute.
    """
    engine, key = dbsession.get_bind().engine, (airport.id, place_key(text))
    result = _NEAREST.get(engine, key)
    if result is None:
        result = _find_nearest(dbsession, airport, key[1])
        if result is not None:
            _NEAREST.put(engine, key, result)
    return result


def _find_nearest(dbsession: Session, airport: Airport, key: str) -> NearestCity | None:
    listed = nearby_cities.listed(dbsession, airport)
    here = _position(dbsession, airport, key)
    if here and listed:
        distances = [(distance(here, (city.latitude, city.longitude)), city.name) for city, _km in listed]
        km, name = min(distances)
        return NearestCity(name, round(km))
    keys = {place_key(name): name for name in nearby_cities.cities(dbsession, airport).names}
    alike = process.extractOne(key, list(keys), scorer=fuzz.ratio, score_cutoff=ALIKE)
    if alike:
        return NearestCity(keys[alike[0]], is_alike=True)
    if listed:
        return NearestCity(min(listed, key=lambda pair: pair[1])[0].name)
    return NearestCity(airport.city) if airport.city else None


def _position(dbsession: Session, airport: Airport, key: str) -> tuple[float, float] | None:
    """Return the latitude and longitude of the nearest place with a name, up to FURTHER km away; None if unknown."""
    rows = _near(dbsession, airport, _NAMED, FURTHER, name=key)
    rows += [pair for pair in _near(dbsession, airport, _CITIES, FURTHER) if place_key(pair[0].name) == key]
    if not rows:
        return None
    row, _km = min(rows, key=lambda pair: pair[1])
    return row.latitude, row.longitude


@lru_cache(maxsize=4_000)  # a key stroke compares the same names as the one before
def place_key(name: str) -> str:
    """Return the name of a place as it is compared: folded, with a blank for each hyphen."""
    return " ".join(fold(name).replace("-", " ").split())


def _near(
    dbsession: Session, airport: Airport, query: AnySelect, reach: float, **values: object
) -> list[tuple[AnyRow, float]]:
    """Return the rows of a query within ``reach`` km of an airport, with their distances, the nearest first."""
    sides = {"west": -180.0, "east": 180.0, **bounding_box(airport, reach)}  # all around at the date line
    here = airport.latitude, airport.longitude
    rows = dbsession.execute(query, {**sides, **values})
    pairs = [(row, distance(here, (row.latitude, row.longitude))) for row in rows]
    return sorted((pair for pair in pairs if pair[1] <= reach), key=lambda pair: pair[1])


def _like(text: str) -> str:
    """Return the LIKE pattern of texts that begin with ``text``."""
    return "".join(f"\\{char}" if char in "\\%_" else char for char in text) + "%"


def _in_box(table: type[City | SmallCity]) -> AnySelect:
    """Return the SELECT of the places of a table in the box with the sides south, north, west and east."""
    return select(table.name, table.latitude, table.longitude).where(
        table.latitude.between(bindparam("south"), bindparam("north")),
        table.longitude.between(bindparam("west"), bindparam("east")),
    )


def _begins(name: str) -> ColumnElement[bool]:
    return SmallCity.folded_name.like(bindparam(name, type_=Text()), escape="\\")


_CITIES, _SMALL = _in_box(City), _in_box(SmallCity)
_NAMED = _SMALL.where(SmallCity.folded_name == bindparam("name", type_=Text()))
_BEGINS = _SMALL.where(or_(_begins("begin"), _begins("word")))
# The nearest cities of other places: an import has the same ones in many rows.
_NEAREST: TTLCache[NearestCity] = TTLCache(seconds=60, max_size=500)
