"""The number of changes on each day of the last weeks, from the activity log.

The entries are numbered without gaps, so the number of a day is the difference of two ids. This takes one lookup in the
index on the time for each day, however many entries there are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from statistics import median_low

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity, AuditHead

WEEKS = 8
DAYS = 7  # of a week, from Monday (ISO 8601)
UNUSUAL = 10  # ratio of the largest number to the median from which the scale is logarithmic


@dataclass(frozen=True)
class Day:
    """A day in UTC. ``number`` is None for a day in the future."""

    date: date
    number: int | None


@dataclass(frozen=True)
class Weeks:
    """Whole weeks, up to the current one."""

    days: tuple[Day, ...]
    today: date

    def __iter__(self) -> Iterator[tuple[Day, ...]]:
        return (self.days[start : start + DAYS] for start in range(0, len(self.days), DAYS))

    @property
    def total(self) -> int:
        """The number of changes in all weeks."""
        return sum(day.number or 0 for day in self.days)

    @property
    def most(self) -> int:
        """The largest number of changes in a day."""
        return max(day.number or 0 for day in self.days)

    @property
    def top(self) -> int:
        """The upper end of the chart's scale: the next number 1, 2 or 5 times a power of ten."""
        return next(top for top in _round_numbers() if top >= self.most)

    @cached_property
    def is_logarithmic(self) -> bool:
        """True if on a linear scale one day, such as that of an import, would make the other bars invisible."""
        numbers = [day.number for day in self.days if day.number]
        return bool(numbers) and self.most > UNUSUAL * median_low(numbers)

    @property
    def lines(self) -> list[int]:
        """The labelled numbers of the scale: its end, and the half or the powers of ten below."""
        if self.is_logarithmic:
            return [*(10**power for power in range(1, len(str(self.top))) if 2 * 10**power <= self.top), self.top]
        return [self.top] if self.top % 2 else [self.top // 2, self.top]

    def height(self, number: int) -> float:
        """Return the height of a number's bar in percent of the chart's height."""
        part = math.log1p(number) / math.log1p(self.top) if self.is_logarithmic else number / self.top
        return round(100 * part, 2)


def _round_numbers() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def last_weeks(dbsession: Session, today: date) -> Weeks:
    """Return the days of WEEKS weeks, from a Monday to the Sunday of the current week."""
    monday = today - timedelta(days=today.weekday() + (WEEKS - 1) * DAYS)
    dates = [monday + timedelta(days=number) for number in range(WEEKS * DAYS)]
    past = [day for day in dates if day <= today]
    numbers = _numbers(dbsession, past)
    return Weeks(tuple(Day(day, numbers.get(day)) for day in dates), today)


def _numbers(dbsession: Session, days: list[date]) -> dict[date, int]:
    """Return the number of entries of each day. ``days`` must be consecutive."""
    firsts = [_first_since(day).scalar_subquery().label(f"day{number}") for number, day in enumerate(days)]
    row = dbsession.execute(select(select(AuditHead.number).scalar_subquery(), *firsts)).one()
    numbers = {}
    after = (row[0] or 0) + 1
    for day, first in zip(reversed(days), reversed(row[1:]), strict=True):
        numbers[day] = max(0, after - (first or after))
        after = first or after
    return numbers


def _first_since(day: date) -> Select[int]:
    """Return the query for the id of the first entry since the start of a day in UTC."""
    begins = datetime.combine(day, time(), UTC)
    since = select(AdminActivity.id).where(AdminActivity.at >= begins)
    return since.order_by(AdminActivity.at, AdminActivity.id).limit(1)  # the entries of one commit share their time
