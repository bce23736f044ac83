"""Find airports by code, name or text."""

import math
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.airports.name_index import Directory
from groundtransport.airports.names import code_of, named
from groundtransport.cache import TTLCache
from groundtransport.db import AnyRow, table_of
from groundtransport.db.functions import is_one_of
from groundtransport.indexes.counter_tables import ALL, RecordCount

SUGGESTIONS = 20

_BY_IATA, _BY_ICAO = (
    select(Airport).where(column == bindparam("code")).order_by(Airport.id).limit(1)
    for column in (Airport.code, Airport.icao)
)


_AIRPORTS = table_of(Airport)
_COUNTRIES = select(*_AIRPORTS.c["code", "country"]).where(is_one_of(_AIRPORTS.c.code, "codes"))

# An edit is seen by its own process at once and by the others within the minute. A missing code is not cached.
AIRPORTS: TTLCache[Airport] = TTLCache(seconds=60, max_size=500)


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


def countries(dbsession: Session, codes: Collection[str]) -> dict[str, str]:
    """Return the countries of airports by their IATA codes: of cached airports, and of the others by one query."""
    engine = dbsession.get_bind().engine
    cached = {code: airport.country for code in codes if (airport := AIRPORTS.get(engine, code)) is not None}
    others = [code for code in codes if code not in cached]
    rows = dbsession.execute(_COUNTRIES, {"codes": others}) if others else ()
    return {**cached, **{row.code: row.country for row in rows}}


def by_airport_name(dbsession: Session, airport_name: str) -> Airport | None:
    """Return the airport of a string ``<name> (<code>)``, found by the code alone; None if there is none."""
    code = code_of(airport_name)
    return by_code(dbsession, code) if code else None


_ALL = (
    select(*_AIRPORTS.c["id", "code", "page_rank", "population", "closed_on", "search_text", "other_names"])
    .where(_AIRPORTS.c.withdrawn_at.is_(None))
    .order_by(
        _AIRPORTS.c.closed_on.is_not(None),
        func.coalesce(_AIRPORTS.c.page_rank, 0).desc(),
        _AIRPORTS.c.population.desc(),
        _AIRPORTS.c.id,
    )
)
# Records at each airport. Changes that PostgreSQL has not added to the counters yet are too few to matter.
_RECORDS = (
    select(RecordCount.airport_code, func.sum(RecordCount.n).label("number"))
    .where(RecordCount.choice == ALL, RecordCount.airport_code != ALL)
    .group_by(RecordCount.airport_code)
)
_NEWEST = select(func.max(_AIRPORTS.c.id))
_PROPOSED = select(*_AIRPORTS.c["id", "code", "name", "city", "country", "closed_on", "replaced_by"]).where(
    _AIRPORTS.c.withdrawn_at.is_(None)
)
_BY_IDS = _PROPOSED.where(is_one_of(_AIRPORTS.c.id, "ids"))
_BY_CODE = _PROPOSED.where(_AIRPORTS.c.code == bindparam("code"))
NO_TRAFFIC = 1e-5  # importance; the least page rank is 0.004
RECORDS = 0.05  # importance of the airport with the most records, as much as the page rank of a regional airport
CLOSED = 1e-3  # factor
DIRECTORIES: TTLCache[Directory] = TTLCache(seconds=600, max_size=1)
_DIRECTORY_LOCK = threading.Lock()


def search(dbsession: Session, text: str) -> Sequence[AnyRow]:
    """Return up to 20 airports whose names, codes or places contain every term of ``text``, best first.

    Each row has ``id``, ``code``, ``name``, ``city``, ``country`` and ``closed_on``. A closed airport is followed by
    the one that replaced it. Additions and withdrawals take effect immediately; renamed and reinstated airports are
    found within ten minutes.
    """
    ids = _directory(dbsession).find(text, SUGGESTIONS)
    rows = {row.id: row for row in dbsession.execute(_BY_IDS, {"ids": ids})} if ids else {}
    return list(_with_successors(dbsession, [rows[airport_id] for airport_id in ids if airport_id in rows]))


def _with_successors(dbsession: Session, rows: Sequence[AnyRow]) -> Iterator[AnyRow]:
    codes = {row.code for row in rows}
    for row in rows:
        yield row
        if row.replaced_by and row.replaced_by not in codes:
            yield from dbsession.execute(_BY_CODE, {"code": row.replaced_by})


@dataclass(frozen=True)
class Proposal:
    """The airports that a text may mean, best first.

    ``instead`` is the near or shorter text that was searched for, "" for the text itself.
    """

    airports: Sequence[AnyRow]
    instead: str = ""


def propose(dbsession: Session, text: str) -> Proposal:
    """Return the airports of a search; if there are none, those of a text with near words, or of a part of the text."""
    if airports := search(dbsession, text):
        return Proposal(airports)
    directory = _directory(dbsession)
    for instead in filter(None, (directory.near(text), directory.shorter(text))):
        if airports := search(dbsession, instead):
            return Proposal(airports, instead)
    return Proposal([])


def suggestions(dbsession: Session, text: str) -> list[str]:
    """Return the names ``<name> (<code>)`` of the airports that match the text or its part after the last bracket."""
    rows = search(dbsession, text.rpartition("(")[2]) or search(dbsession, text) or propose(dbsession, text).airports
    return [named(row.name, row.code) for row in rows]


def _directory(dbsession: Session) -> Directory:
    """Return the cached directory, built again after ten minutes or after an airport was added."""
    engine, newest = dbsession.get_bind().engine, dbsession.scalar(_NEWEST)
    directory = DIRECTORIES.get(engine, newest)
    if directory is None:
        with _DIRECTORY_LOCK:  # only one thread builds it
            directory = DIRECTORIES.get(engine, newest)
            if directory is None:
                directory = _build(dbsession)
                DIRECTORIES.put(engine, newest, directory)
    return directory


def _build(dbsession: Session) -> Directory:
    records = {code: int(number) for code, number in dbsession.execute(_RECORDS)}
    most = max(records.values(), default=0)
    return Directory(
        (row.id, importance(row, records.get(row.code, 0), most), row.search_text, row.other_names or "|")
        for row in dbsession.execute(_ALL)
    )


def importance(airport: Any, records: int, most: int) -> float:
    """Return how likely an airport is meant: by its traffic, and by the share of its records in the most at any one.

    One without scheduled flights comes after all others, the bigger its city, the earlier; a closed one comes last.
    """
    traffic: float = airport.page_rank or NO_TRAFFIC * (1 + airport.population / (airport.population + 1e6))
    share = math.log1p(records) / math.log1p(most) if most else 0.0
    return (traffic + RECORDS * share) * (CLOSED if airport.closed_on else 1.0)
