"""The statistics of the dashboard, and their queries."""

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

EXACT = 10_000  # gaps are counted up to this number
PATIENCE = 0.5  # seconds for the count of one gap of one kind
GAPS = ("company_phone", "company_address")  # text filters; a record without a value is of little use


@dataclass(frozen=True)
class Status:
    """The number of records with one value of a choice field, such as a transit service's status."""

    field: str
    code: str
    title: str
    number: int


@dataclass(frozen=True)
class Gap:
    """The number of records without a value in the fields of a text filter, counted up to EXACT + 1."""

    filter: str
    number: int

    @property
    def is_more(self) -> bool:
        return self.number > EXACT


@dataclass(frozen=True)
class Busy:
    """An airport, with the numbers of its records by the kind's name."""

    name: str
    code: str
    numbers: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.numbers.values())

    @property
    def main_kind(self) -> str:
        """The name of the kind with most records at the airport."""
        return max(self.numbers, key=lambda name: self.numbers[name])


def total(dbsession: Session, kind: Kind) -> int:
    """Return the number of live records of a kind."""
    return counters.total(dbsession, kind)


def statuses(dbsession: Session, kind: Kind) -> list[Status]:
    """Return the number of records for each value of each choice field, in the order of the declaration."""
    return [status for field in choices(kind) for status in _of_choice(dbsession, kind, field)]


def _of_choice(dbsession: Session, kind: Kind, field: str) -> list[Status]:
    numbers = counters.counts_by_choice(dbsession, kind, field)
    declared: Any = kind.fields[field]
    return [Status(field, code, title, numbers.get(code, 0)) for code, title in declared.choices]


def gaps(dbsession: Session, kind: Kind) -> list[Gap]:
    """Return the number of records without a value, for each of GAPS that the kind has.

    The built-in kinds have an index for each. For other kinds, a count that takes longer than PATIENCE is left out.
    """
    result = []
    for name in GAPS:
        if name in kind.filters:
            with suppress(OutOfTime), Budget(dbsession, PATIENCE) as budget, budget.limit():
                clauses, hint = (pages.live(kind), fields_empty(kind, name)), hint_for(kind.model.__table__, name)
                result.append(Gap(name, pages.count(dbsession, kind, *clauses, most=EXACT + 1, hint=hint)))
    return result


def busiest(dbsession: Session, kinds: Iterable[Kind], length: int) -> list[Busy]:
    """Return the ``length`` airports with most records of all kinds together."""
    numbers = {kind.name: dict(counters.counts_by_airport(dbsession, kind)) for kind in kinds}
    totals: Counter[str] = Counter()
    for of_kind in numbers.values():
        totals.update(of_kind)
    top = [code for code, _number in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:length]]
    airports = dbsession.scalars(select(Airport).where(Airport.code.in_(top)))
    names = {airport.code: airport.airport_name for airport in airports}
    return [Busy(names.get(code, code), code, {name: of.get(code, 0) for name, of in numbers.items()}) for code in top]
