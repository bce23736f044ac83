"""Locator maps of an airport as numbers for an SVG: on the globe, and among the cities around it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from groundtransport.airports.nearby_cities import KM_PER_DEGREE

REACH = 100  # km from the centre of the local map to its edge
SIZE = 200  # units of the local map's view box
LABELS = 6  # cities with their name
LETTER, LINE = 4, 9  # units: the width of a letter of a label, the height of a line


@dataclass(frozen=True)
class Place:
    """A city on the local map: the centre and radius of its dot; ``label`` is "" for a city without its name."""

    x: float
    y: float
    radius: float
    name: str
    label: str
    at_left: bool  # whether the label stands at the left of the dot


def on_globe(latitude: float, longitude: float) -> tuple[float, float]:
    """Return x and y of a position on a map of the globe of 360 by 180 units, by equirectangular projection."""
    return round(longitude + 180, 1), round(90 - latitude, 1)


def surroundings(airport: Any, near: Iterable[tuple[Any, float]]) -> list[Place]:
    """Return the cities within REACH on a map of SIZE units around an airport; ``near`` are cities and km, best first.

    Names are left out where they would overlap.
    """
    places: list[Place] = []
    taken = [(SIZE / 2 - 5, SIZE / 2 + 5, SIZE / 2)]  # left, right and y of the dot in the middle and of the labels
    for city, km in near:
        if km > REACH:
            continue
        x, y = _local(airport, city)
        width = LETTER * len(city.name) + 6
        at_left = width < x < SIZE / 2 or x + width > SIZE  # outwards, if there is room
        left, right = (x - width, x) if at_left else (x, x + width)
        is_free = all(right < start or left > end or abs(y - line) > LINE for start, end, line in taken)
        label = city.name if is_free and len(taken) <= LABELS else ""
        if label:
            taken.append((left, right, y))
        radius = round(1 + math.log10(max(city.population, 1000) / 1000) * 0.8, 1)
        places.append(Place(x, y, radius, city.name, label, at_left))
    return places


def _local(airport: Any, city: Any) -> tuple[float, float]:
    """Return x and y of a city on the local map: north is up, the airport is in the middle."""
    scale = SIZE / 2 / REACH
    east = (city.longitude - airport.longitude + 180) % 360 - 180
    x = east * KM_PER_DEGREE * math.cos(math.radians(airport.latitude)) * scale
    y = (city.latitude - airport.latitude) * KM_PER_DEGREE * scale
    return round(SIZE / 2 + x, 1), round(SIZE / 2 - y, 1)


def coordinates(latitude: float, longitude: float) -> str:
    """Return a position for people: ``40.6398° N, 73.7789° W``."""
    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return f"{abs(latitude):.4f}° {north}, {abs(longitude):.4f}° {east}"
