"""The numbers of records by status, as lists show it: active ones that are not valid today are not counted as that."""

from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from groundtransport.dashboard.statistics import COUNT_TIMEOUT, EXACT
from groundtransport.records import validity
from groundtransport.records.fields import Field
from groundtransport.records.kind import Kind, single_choice_fields
from groundtransport.records.list import counters, pages
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.records.validity import CURRENT, ENDED, NOT_YET, VALIDITY

# The states besides the current one, each with the field whose index finds its records.
DAYS = {NOT_YET: validity.FROM, ENDED: validity.UNTIL}


@dataclass(frozen=True)
class Status:
    """The number of records with one value of a choice field, such as a transit service's status, or with a validity.

    ``state`` is the query string of their list. ``is_least`` and ``is_most`` tell that there may be more, or fewer.
    """

    field: str
    code: str
    title: str
    number: int
    state: str
    is_least: bool = False
    is_most: bool = False


def statuses(dbsession: Session, kind: Kind) -> list[Status]:
    """Return the number of records for each value of each choice field, in the order of the declaration.

    The active ones are those that are valid today. After them come the others, if there are any; of a kind without a
    status these come first.
    """
    others = [status for state in DAYS if (status := _of_days(dbsession, kind, state)).number]
    choices = [status for field in single_choice_fields(kind) for status in _of_choice(dbsession, kind, field)]
    active = [status for status in choices if kind.active == {status.field: status.code}]
    if not active or not others:
        return others + choices
    at = choices.index(active[0])
    return [*choices[:at], _current(kind, active[0], others), *others, *choices[at + 1 :]]


def _current(kind: Kind, active: Status, others: list[Status]) -> Status:
    """Return the status of the active records without those that are not valid today."""
    number = max(0, active.number - sum(status.number for status in others))
    state = urlencode({**kind.active, VALIDITY: CURRENT})
    return replace(active, number=number, state=state, is_most=any(status.is_least for status in others))


def _of_choice(dbsession: Session, kind: Kind, field: str) -> list[Status]:
    numbers = counters.counts_by_choice(dbsession, kind, field)
    declared: Field = kind.fields[field]
    return [
        Status(field, code, title, numbers.get(declared.filter_value(code), 0), urlencode({field: code}))
        for code, title in declared.choices
    ]


def _of_days(dbsession: Session, kind: Kind, state: str) -> Status:
    """Return the number of active records in a state of DAYS, counted up to EXACT; 0 after COUNT_TIMEOUT.

    The index of the days finds them: without such records, which is usual, it is read at one place.
    """
    query, number = ListQuery(filters={**kind.active, VALIDITY: state}), 0
    hint = f"INDEXED BY {Order(kind, DAYS[state], descending=False).index}"
    with suppress(OutOfTime), Budget(dbsession, COUNT_TIMEOUT) as budget, budget.limit():
        conditions = (pages.live(kind), *pages.conditions(kind, query))
        number = pages.count(dbsession, kind, *conditions, most=EXACT + 1, hint=hint)
    shown = min(number, EXACT)
    return Status("status", state, validity.STATES[state], shown, query.state(), is_least=number > EXACT)
