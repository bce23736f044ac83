"""The figures of the overview. Every query that they need stands here."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.indexes import hint_for
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters, pages
from groundtransport.records.list.query import choices
from groundtransport.records.search.predicates import fields_empty
from groundtransport.records.search.time_limit import Budget, OutOfTime

EXACT = 10_000  # beyond it, the number is not what matters
PATIENCE = 0.5  # seconds for one gap of one kind
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
    """How many records have nothing in the fields of a text filter, counted up to EXACT."""

    filter: str
    number: int

    @property
    def is_more(self) -> bool:
        return self.number > EXACT


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
    numbers = counters.counts_by_choice(dbsession, kind, field)
    declared: Any = kind.fields[field]
    return [Status(field, code, title, numbers.get(code, 0)) for code, title in declared.choices]


def gaps(dbsession: Session, kind: Kind) -> list[Gap]:
    """Return what is missing in how many records, for each of GAPS that the kind has.

    Indexes know these. What a kind of somebody else's has no index for, and takes too long, is left out.
    """
    found = []
    for name in GAPS:
        if name in kind.filters:
            with suppress(OutOfTime), Budget(dbsession, PATIENCE) as budget, budget.limit():
                wanted, hint = (pages.live(kind), fields_empty(kind, name)), hint_for(kind.model.__table__, name)
                found.append(Gap(name, pages.count(dbsession, kind, *wanted, most=EXACT + 1, hint=hint)))
    return found


def busiest(dbsession: Session, kinds: Iterable[Kind], length: int) -> list[Busy]:
    """Return the airports with most records of all kinds together."""
    numbers = {kind.name: dict(counters.counts_by_airport(dbsession, kind)) for kind in kinds}
    totals: Counter[str] = Counter()
    for of_kind in numbers.values():
        totals.update(of_kind)
    top = [code for code, _number in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:length]]
    known = dbsession.scalars(select(Airport).where(Airport.code.in_(top)))
    names = {airport.code: airport.airport_name for airport in known}
    return [Busy(names.get(code, code), code, {name: of.get(code, 0) for name, of in numbers.items()}) for code in top]
