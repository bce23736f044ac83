"""Find the records that rows of a file match, many rows by one query."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.records.sources import SourceKey, owners_by_source
from groundtransport.text import fold, parse_number
from groundtransport.transfer.plan_types import AIRPORT_CODE, ID, Match
from groundtransport.transfer.planning.row_texts import RowTexts

ROUTE = "route_name"
# Values of records besides their fields.
FURTHER = ("airport_id", "airport_code", "id", "version", "verified_at")
PLACES = 200_000  # records whose airport, company and route stay in memory

NO_ID = _("An id is a whole number.")
UNKNOWN_ID = _("There is no record with this id.")
NO_SOURCE = _("A row needs a source and a source ID to be matched by them.")
MANY = _("More than one record matches this row: ${ids}.")

Key = tuple[object, ...]


@dataclass(frozen=True)
class Keys:
    """The keys of a row.

    ``record`` is compared with the records to find the one to update, None for a row that is always new. ``source``
    is the pair of source and source id, which is unique among live records.
    """

    record: Key | None
    source: SourceKey | None
    problem: str = ""  # why it has no key


def key_names(kind: Kind, match: Match) -> tuple[str, ...]:
    """Return the fields and further columns that ``keys_of`` reads."""
    by_match = {Match.ID: (ID,), Match.PLACE: ("airport_name", AIRPORT_CODE, *_place_names(kind))}
    return ("source", "source_id", *by_match.get(match, ()))


def keys_of(kind: Kind, match: Match, row_texts: RowTexts, airport: Airport | None) -> Keys:
    """Return the keys of a row by the rule of the import."""
    texts = row_texts.texts
    pair = texts.get("source", "").strip(), texts.get("source_id", "").strip()
    source = pair if all(pair) else None
    match match:
        case Match.ID:
            text = texts.get(ID, "").strip()
            number = parse_number(text)
            return Keys(None if number is None else (number,), source, NO_ID if text and number is None else "")
        case Match.SOURCE:
            return Keys(source, source, "" if source else NO_SOURCE)
        case Match.PLACE:
            return Keys(place_key(kind, airport.id, texts) if airport else None, source)
        case Match.NEVER:
            return Keys(None, source)


def place_key(kind: Kind, airport_id: object, values: Any) -> Key:
    """Return the key of a row or record by place: the airport's id, and the folded company and route."""
    return (airport_id, *(" ".join(fold(values.get(name) or "").split()) for name in _place_names(kind)))


def keys_by_id(dbsession: Session, kind: Kind, ids: Collection[int]) -> dict[int, Key]:
    """Return the place keys of live records by their ids."""
    return dict(_place_keys(dbsession, kind, kind.model.__table__.c.id.in_(ids)))


def _place_keys(dbsession: Session, kind: Kind, condition: ColumnElement[bool]) -> Iterator[tuple[int, Key]]:
    """Yield the ids and place keys of the live records that fulfil a condition."""
    table = kind.model.__table__
    query = select(table.c.id, table.c.airport_id, *(table.c[name] for name in _place_names(kind)))
    for row in dbsession.execute(query.where(condition, kind.model.is_live())):
        yield row.id, place_key(kind, row.airport_id, row._mapping)


def _place_names(kind: Kind) -> list[str]:
    return [name for name in (kind.label, ROUTE) if name and name in kind.fields]


class Matcher:
    """Finds the live records of one kind by keys."""

    def __init__(self, kind: Kind, match: Match) -> None:
        self.kind, self.match = kind, match
        self._places: dict[int, dict[Key, list[int]]] = {}
        self._count = 0

    def find(self, dbsession: Session, rows: Sequence[Keys]) -> list[tuple[int, ...]]:
        """Return the ids of the records that each row matches."""
        ids_by_key = self._ids_by_key(dbsession, {keys.record for keys in rows if keys.record is not None})
        return [tuple(ids_by_key.get(keys.record, ())) if keys.record is not None else () for keys in rows]

    def records(self, dbsession: Session, ids: Iterable[int]) -> dict[int, dict[str, object]]:
        """Return the values of live records by id: their fields and FURTHER."""
        table = self.kind.model.__table__
        columns = [table.c[name] for name in (*self.kind.fields, *FURTHER)]
        query = select(*columns).where(table.c.id.in_(sorted(set(ids))), self.kind.model.is_live())
        return {row.id: dict(row._mapping) for row in dbsession.execute(query)}

    def _ids_by_key(self, dbsession: Session, keys: set[Any]) -> dict[Any, Sequence[int]]:
        match self.match:
            case Match.ID:
                ids = select(self.kind.model.id).where(self.kind.model.id.in_(sorted(key[0] for key in keys)))
                return {(number,): (number,) for number in dbsession.scalars(ids.where(self.kind.model.is_live()))}
            case Match.SOURCE:
                return {key: (number,) for key, number in owners_by_source(dbsession, self.kind, keys).items()}
            case Match.PLACE:
                return {key: self._at(dbsession, key[0]).get(key, ()) for key in keys}
            case Match.NEVER:
                return {}

    def _at(self, dbsession: Session, airport_id: int) -> dict[Key, list[int]]:
        """Return the ids of an airport's records by their keys, from the cache of the airports that were used last."""
        places = self._places.pop(airport_id, None)
        if places is None:
            places = self._read(dbsession, airport_id)
            self._count += len(places)
        self._places[airport_id] = places  # moves it to the end: the oldest is first
        while self._count > PLACES and len(self._places) > 1:
            self._count -= len(self._places.pop(next(iter(self._places))))
        return places

    def _read(self, dbsession: Session, airport_id: int) -> dict[Key, list[int]]:
        places: dict[Key, list[int]] = {}
        at_airport = self.kind.model.__table__.c.airport_id == airport_id
        for record_id, key in _place_keys(dbsession, self.kind, at_airport):
            places.setdefault(key, []).append(record_id)
        return places
