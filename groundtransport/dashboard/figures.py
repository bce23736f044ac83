"""The figures of the overview. Every query that they need stands here."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.records import counters, listing
from groundtransport.records.kind import Kind
from groundtransport.records.query import choices
from groundtransport.records.search import lacks

GAPS = ("company_phone", "company_address")  # the text filters whose absence makes a record of little use


@dataclass(frozen=True)
class Status:
    """How many records have one value of a choice, such as a transit service's status."""

    field: str
    code: str
    title: str
    number: int


@dataclass(frozen=True)
class Gap:
    """How many records have nothing in the fields of a text filter."""

    filter: str
    number: int


@dataclass(frozen=True)
class Busy:
    """An airport with its number of records by the name of their kind."""

    name: str
    code: str
    numbers: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.numbers.values())


def total(dbsession: Session, kind: Kind) -> int:
    return counters.total(dbsession, kind)


def statuses(dbsession: Session, kind: Kind) -> list[Status]:
    """Return the number of records for each value of each choice, in the order of the declaration."""
    return [status for field in choices(kind) for status in _of_choice(dbsession, kind, field)]


def _of_choice(dbsession: Session, kind: Kind, field: str) -> list[Status]:
    numbers = counters.of_choice(dbsession, kind, field)
    declared: Any = kind.fields[field]
    return [Status(field, code, title, numbers.get(code, 0)) for code, title in declared.choices]


def gaps(dbsession: Session, kind: Kind) -> list[Gap]:
    """Return what is missing in how many records, for each of GAPS that the kind has."""
    known = [name for name in GAPS if name in kind.filters]
    numbers = [listing.count(dbsession, kind, listing.live(kind), lacks(kind, name)) for name in known]
    return [Gap(name, number) for name, number in zip(known, numbers, strict=True)]


def busiest(dbsession: Session, kinds: Iterable[Kind], length: int) -> list[Busy]:
    """Return the airports with most records of all kinds together."""
    numbers = {kind.name: dict(counters.of_airports(dbsession, kind)) for kind in kinds}
    totals: Counter[str] = Counter()
    for of_kind in numbers.values():
        totals.update(of_kind)
    top = [code for code, _number in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:length]]
    known = dbsession.scalars(select(Airport).where(Airport.code.in_(top)))
    names = {airport.code: airport.airport_name for airport in known}
    return [Busy(names.get(code, code), code, {name: of.get(code, 0) for name, of in numbers.items()}) for code in top]
