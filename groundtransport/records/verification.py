"""Verification, when a record was last checked to be right: the filters of the list, and when a record is due again."""

from datetime import UTC, date, datetime, timedelta

from groundtransport.db import now
from groundtransport.events import Value, Values
from groundtransport.i18n import _
from groundtransport.records.model import RecordColumns

VERIFIED = "verified"  # the filter by one of STATES
NOT_VERIFIED_SINCE = "not_verified_since"  # the filter by a date: records that were not verified on or after it
FILTERS = (VERIFIED, NOT_VERIFIED_SINCE)
DUE, NEVER, CURRENT = "due", "never", "current"
STATES = {DUE: _("Due"), NEVER: _("Never verified"), CURRENT: _("Up to date")}


def is_valid(name: str, text: str) -> bool:
    """Return True if a filter of FILTERS may have this value."""
    return text in STATES if name == VERIFIED else day_of(text) is not None


def day_of(text: str) -> datetime | None:
    """Return the beginning of a day, in UTC, that is written as ``2026-11-03``; None for another text."""
    try:
        day = date.fromisoformat(text) if len(text) == len("2026-11-03") else None
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None


def state_of(verified_at: datetime | None, days: int) -> str:
    """Return which of STATES a record is in that is due after a number of days."""
    if verified_at is None:
        return NEVER
    return DUE if verified_at < due_before(days) else CURRENT


def logged(verified_at: datetime | None, verified_by: str | None) -> dict[str, Value]:
    """Return when and by whom a record was verified, as the activity log holds it."""
    return {"verified_at": verified_at and verified_at.isoformat(), "verified_by": verified_by}


def of(record: RecordColumns) -> dict[str, Value]:
    """Return when and by whom a record was verified, as the activity log holds it."""
    return logged(record.verified_at, record.verified_by)


def columns_in(values: Values, name: str) -> dict[str, Value]:
    """Return the columns for the ``verified_at`` (ISO 8601) of values; by ``name``, unless they name somebody."""
    text = values.get("verified_at")
    at = datetime.fromisoformat(text) if text else None
    return {"verified_at": at, "verified_by": values.get("verified_by", name) if at else None}


def due_before(days: int) -> datetime:
    """Return the time before which a record must have been verified to be due after a number of days."""
    return now() - timedelta(days=days)


def match_of(name: str, text: str, days: int) -> tuple[str, datetime | None]:
    """Return how a filter matches (a ``TermMatch.mode``), and the time that it compares ``verified_at`` with.

    "unset" is for records that were never verified, "before" for those and the ones verified before the time, "from"
    for the others. ``days`` are those after which a record is due.
    """
    if name == NOT_VERIFIED_SINCE:
        return "before", day_of(text)
    if text == NEVER:
        return "unset", None
    return "before" if text == DUE else "from", due_before(days)
