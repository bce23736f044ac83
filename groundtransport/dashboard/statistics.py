"""The statistics of the dashboard, and their queries."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.indexes import hint_for
from groundtransport.records.kind import Kind
from groundtransport.records.links import LinkState, link_fields
from groundtransport.records.list import counters, pages
from groundtransport.records.model import OTHER_PLACE, other_place_index
from groundtransport.records.search.link_states import count_link_states
from groundtransport.records.search.predicates import fields_empty, is_marked
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.records.verification import due_before

EXACT = 10_000  # gaps are counted up to this number
COUNT_TIMEOUT = 0.5  # seconds for the count of one gap of one kind
# The results of link checks that somebody should look at, with their titles.
PROBLEMS = {
    LinkState.DEAD: _("Dead links"),
    LinkState.PARKED: _("Domains for sale"),
    LinkState.CERTIFICATE: _("Bad certificates"),
    LinkState.MOVED: _("Moved links"),
}
GAPS = ("company_phone", "company_address")  # text filters; a record without a value is of little use


@dataclass(frozen=True)
class Gap:
    """The number of records without a value in the fields of a text filter, counted up to EXACT + 1."""

    filter: str
    number: int

    @property
    def is_more(self) -> bool:
        """True if there are more than EXACT."""
        return self.number > EXACT


@dataclass(frozen=True)
class LinkProblem:
    """The number of records whose link check ended in a state."""

    state: str
    title: str
    number: int


@dataclass(frozen=True)
class Verification:
    """The numbers of records that are due, that were never verified, and that were in this week, up to EXACT + 1."""

    due: int
    never: int
    this_week: int
    week_begins: date


@dataclass(frozen=True)
class Busy:
    """An airport, with the numbers of its records by the kind's name."""

    name: str
    code: str
    numbers: dict[str, int]

    @property
    def total(self) -> int:
        """The number of records of all kinds."""
        return sum(self.numbers.values())

    @property
    def main_kind(self) -> str:
        """The name of the kind with most records at the airport."""
        return max(self.numbers, key=lambda name: self.numbers[name])


def total(dbsession: Session, kind: Kind) -> int:
    """Return the number of live records of a kind."""
    return counters.total(dbsession, kind)


def gaps(dbsession: Session, kind: Kind, airport_code: str = "") -> list[Gap]:
    """Return the number of records without a value, for each of GAPS that the kind has; of one airport with its code.

    The built-in kinds have an index for each. Of other kinds, a count that reaches COUNT_TIMEOUT is left out.
    """
    result = []
    for name in GAPS:
        if name in kind.filters:
            with suppress(OutOfTime), Budget(dbsession, COUNT_TIMEOUT) as budget, budget.limit():
                clauses, hint = [pages.live(kind), fields_empty(kind, name)], hint_for(kind.model.__table__, name)
                if airport_code:  # its index finds fewer records
                    clauses, hint = [*clauses, kind.model.airport_code == airport_code], ""
                result.append(Gap(name, pages.count(dbsession, kind, *clauses, most=EXACT + 1, hint=hint)))
    return result


def other_places(dbsession: Session, kind: Kind) -> int:
    """Return the number of records whose city is none of their airport's, counted up to EXACT + 1."""
    if not kind.marks:
        return 0
    table = kind.model.__table__
    conditions, hint = (pages.live(kind), is_marked(kind, OTHER_PLACE)), f"INDEXED BY {other_place_index(table)}"
    return pages.count(dbsession, kind, *conditions, most=EXACT + 1, hint=hint)


def link_problems(dbsession: Session, kind: Kind) -> list[LinkProblem]:
    """Return the numbers of records whose links somebody should look at, without zeros; none after COUNT_TIMEOUT."""
    numbers: Counter[str] = Counter()
    for field in link_fields(kind):
        with suppress(OutOfTime), Budget(dbsession, COUNT_TIMEOUT) as budget, budget.limit():
            rows = dbsession.execute(count_link_states(kind, field, list(PROBLEMS))).all()
            numbers.update({row[0]: row[1] for row in rows})
    return [LinkProblem(state, title, numbers[state]) for state, title in PROBLEMS.items() if numbers[state]]


def verification(dbsession: Session, kind: Kind, days: int) -> Verification:
    """Return how far the verification of a kind's records is; they are due after ``days``."""
    verified_at, today = kind.model.__table__.c.verified_at, now().date()
    monday = today - timedelta(days=today.weekday())
    begin = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    hint = f"INDEXED BY ix_{kind.table}_by_verified_at"

    def number(condition: ColumnElement[bool]) -> int:
        return pages.count(dbsession, kind, pages.live(kind), condition, most=EXACT + 1, hint=hint)

    never, old = number(verified_at.is_(None)), number(verified_at < due_before(days))
    return Verification(min(never + old, EXACT + 1), never, number(verified_at >= begin), monday)


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
