"""How much was changed on each day of the last weeks, from the activity log.

The log counts its entries without gaps, so a day's number is the distance between two entries: as many short looks
into the index on time as there are days, however much was done on them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity, AuditHead

WEEKS = 8
DAYS = 7  # of a week, which begins on Monday (ISO 8601)


@dataclass(frozen=True)
class Day:
    """A day in UTC; ``number`` is None while it has not come."""

    date: date
    number: int | None


@dataclass(frozen=True)
class Weeks:
    """Whole weeks, the last one that of today."""

    days: tuple[Day, ...]
    today: date

    def __iter__(self) -> Iterator[tuple[Day, ...]]:
        return (self.days[start : start + DAYS] for start in range(0, len(self.days), DAYS))

    @property
    def total(self) -> int:
        return sum(day.number or 0 for day in self.days)

    @property
    def most(self) -> int:
        return max(day.number or 0 for day in self.days)

    @property
    def top(self) -> int:
        """The upper end of a chart's scale: the next 1, 2 or 5 with noughts."""
        return next(top for top in _rounds() if top >= self.most)


def _rounds() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def last_weeks(dbsession: Session, today: date) -> Weeks:
    """Return the days from Monday, seven weeks before this one, to the Sunday that comes."""
    monday = today - timedelta(days=today.weekday() + (WEEKS - 1) * DAYS)
    dates = [monday + timedelta(days=number) for number in range(WEEKS * DAYS)]
    past = [day for day in dates if day <= today]
    numbers = _numbers(dbsession, past)
    return Weeks(tuple(Day(day, numbers.get(day)) for day in dates), today)


def _numbers(dbsession: Session, days: list[date]) -> dict[date, int]:
    """Return the number of entries of each day, which follow one another."""
    firsts = [_first_since(day).scalar_subquery().label(f"day{number}") for number, day in enumerate(days)]
    found = dbsession.execute(select(select(AuditHead.number).scalar_subquery(), *firsts)).one()
    numbers = {}
    after = (found[0] or 0) + 1
    for day, first in zip(reversed(days), reversed(found[1:]), strict=True):
        numbers[day] = max(0, after - (first or after))
        after = first or after
    return numbers


def _first_since(day: date) -> Select[int]:
    """Select the first entry since the beginning of a day in UTC."""
    begins = datetime.combine(day, time(), UTC)
    since = select(AdminActivity.id).where(AdminActivity.at >= begins)
    return since.order_by(AdminActivity.at, AdminActivity.id).limit(1)  # the entries of one commit share their time
