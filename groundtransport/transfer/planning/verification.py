"""The verification that a row of a file gives its record: a date or a time, which never moves the stored one back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from groundtransport.db import now
from groundtransport.events import Values
from groundtransport.i18n import _
from groundtransport.transfer.plan_types import VERIFIED_AT, CellProblem, Outcome, PlannedRow

NO_PAST_TIME = _("This must be a date or a time of the past, such as 2026-11-03 or 2026-11-03T14:30:00+00:00.")
PLANNED = (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED)


def past_time(text: str) -> datetime | None:
    """Return the time of an ISO 8601 text, in UTC if it names no zone; None for another text and for the future."""
    try:
        at = datetime.fromisoformat(text)
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return at if at <= now() else None


def with_problem(planned: PlannedRow, problem: CellProblem) -> PlannedRow:
    """Return the plan of a row that is refused for a problem, unless it is left out anyway."""
    if planned.outcome not in (*PLANNED, Outcome.REFUSED):
        return planned
    problems = (*planned.problems, problem)
    return replace(planned, outcome=Outcome.REFUSED, values=None, changes={}, doubts=(), problems=problems)


def with_verification(
    planned: PlannedRow, stored: Values, names: Sequence[str], at: datetime, *, can_update: bool
) -> PlannedRow:
    """Return the plan with the verification of a row, unless the stored record was verified at that time or later.

    ``names`` are those of the values that the writer gets.
    """
    old = stored.get(VERIFIED_AT)
    if planned.outcome not in PLANNED or (old is not None and at <= old):
        return planned
    if planned.outcome == Outcome.NEW:
        return replace(planned, values={**(planned.values or {}), VERIFIED_AT: at.isoformat()})
    if not can_update:
        return replace(planned, outcome=Outcome.SKIPPED)
    values = planned.values or {name: stored[name] for name in names}
    changes = {**planned.changes, VERIFIED_AT: (old and old.isoformat(), at.isoformat())}
    values = {**values, VERIFIED_AT: at.isoformat()}
    return replace(planned, outcome=Outcome.CHANGED, values=values, changes=changes)
