"""Validity: the first and the last day of a record, such as those of a season. The status that is shown follows them.

The days are dates in UTC. A record without dates is always current. The stored status does not change by itself.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Table, case, literal

from groundtransport.db import now
from groundtransport.i18n import _

VALIDITY = "validity"  # the filter by one of STATES, and the name of a record's state in JSON and files
FROM, UNTIL = "valid_from", "valid_until"  # the fields
CURRENT, NOT_YET, ENDED = "current", "not_yet", "ended"
STATES = {CURRENT: _("Current"), NOT_YET: _("Not yet valid"), ENDED: _("Ended")}
WRONG_ORDER = _("The last day cannot be before the first day.")


class Bound(NamedTuple):
    """A condition on a field: how it compares with a day (a ``TermMatch.mode``)."""

    mode: str
    field: str
    day: str


def today() -> str:
    """Return the day in UTC, as ``2026-11-03``."""
    return now().date().isoformat()


def state_of(valid_from: str | None, valid_until: str | None, day: str = "") -> str:
    """Return which of STATES a record is in on a day, or today."""
    if valid_from is None and valid_until is None:
        return CURRENT
    day = day or today()
    if valid_from is not None and valid_from > day:
        return NOT_YET
    return ENDED if valid_until is not None and valid_until < day else CURRENT


def with_state(row: dict[str, object]) -> dict[str, object]:
    """Add the state to the values of a record, and return them."""
    row[VALIDITY] = state_of(row[FROM], row[UNTIL])  # type: ignore[arg-type]  # days in ISO 8601, or None
    return row


def bounds_of(state: str) -> tuple[Bound, ...]:
    """Return the conditions of one of STATES."""
    at = now().date()
    yesterday, day, tomorrow = ((at + timedelta(days=days)).isoformat() for days in (-1, 0, 1))
    return {
        CURRENT: (Bound("before", FROM, tomorrow), Bound("since", UNTIL, day)),
        NOT_YET: (Bound("from", FROM, tomorrow),),
        ENDED: (Bound("to", UNTIL, yesterday),),
    }[state]


def state_column(table: Table) -> ColumnElement[str]:
    """Return the state of a kind's records as an SQL expression."""
    day = literal(today(), table.c[FROM].type)
    return case((table.c[FROM] > day, NOT_YET), (table.c[UNTIL] < day, ENDED), else_=CURRENT).label(VALIDITY)


def is_in_order(values: Mapping[str, object]) -> bool:
    """Return True if the last day of a record is not before its first one, or one of them is not set."""
    first, last = values.get(FROM), values.get(UNTIL)
    return first is None or last is None or str(first) <= str(last)
