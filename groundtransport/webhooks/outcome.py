"""How an attempt to deliver ended, and when the next one is."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

PAUSES = tuple(timedelta(seconds=each) for each in (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800))
GIVE_UP_AFTER = timedelta(days=3)  # between the first attempt of a delivery and the last

ARCHIVED = "archived"  # in place of a Failure: the entry is no longer in the activity log
NO_SECRET = "no secret"  # noqa: S105  # in place of a Failure: no secret of the service opens that of the webhook
SKIPPED = "skipped"  # in place of a Failure: a person gave the delivery up


def pause(attempts: int) -> timedelta:
    """Return the pause after a failed attempt; the longest is repeated."""
    return PAUSES[min(attempts, len(PAUSES)) - 1]


def retry_after(status: int, header: str, at: datetime) -> timedelta:
    """Return the pause that an answer asks for by its ``Retry-After`` (RFC 9110, 10.2.3), at most the longest of ours.

    It is none without a valid header, and for other statuses than 429 and 503.
    """
    if status not in (429, 503):
        return timedelta(0)
    text = header.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:10]), PAUSES[-1].total_seconds()))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a year of many digits
        return timedelta(0)
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(until - at, timedelta(0)), PAUSES[-1])


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended."""

    status: int | None = None
    failure: str = ""
    answer: str = ""
    milliseconds: int | None = None
    retry_after: timedelta = timedelta(0)  # before the next attempt, as the receiver asks

    @property
    def columns(self) -> dict[str, object]:
        """The columns of Delivery with the same names."""
        return {name: value for name, value in vars(self).items() if name != "retry_after"}

    def pause(self, attempts: int) -> timedelta:
        """Return the pause after this attempt, if it failed; ``attempts`` counts it, too."""
        return max(pause(attempts), self.retry_after)

    @property
    def is_done(self) -> bool:
        """True if the receiver accepted the message, or nothing is left to send."""
        return self.failure == ARCHIVED or (self.status is not None and 200 <= self.status < 300)

    @property
    def is_gone(self) -> bool:
        """True if the receiver wants no more messages (Standard Webhooks, "Response codes")."""
        return self.status == 410

    @property
    def is_down(self) -> bool:
        """True if the receiver as a whole does not work or is overloaded, so that other messages must wait, too."""
        return not self.is_done and (self.status is None or self.status >= 500 or self.status == 429)
