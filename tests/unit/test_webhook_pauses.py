"""The pause that a webhook's receiver asks for."""

from datetime import UTC, datetime, timedelta

import pytest

from groundtransport.webhooks.outcome import PAUSES, Outcome, retry_after

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "120", 120),
        (503, " 7 ", 7),
        (503, "Mon, 04 May 2026 12:10:00 GMT", 600),
        (503, "Mon, 04 May 2026 12:10:00 -0000", 600),
        (503, "Mon, 04 May 2020 12:10:00 GMT", 0),
        (429, "9" * 100, PAUSES[-1].total_seconds()),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", PAUSES[-1].total_seconds()),
        (500, "120", 0),
        *((429, text, 0) for text in ("", "-5", "1.5", "٣", "soon", "Mon, 99 May 2026", "\x00")),
        (429, f"Mon, 04 May {'9' * 14} 12:10:00 GMT", 0),
    ],
)
def test_retry_after(status: int, header: str, seconds: float) -> None:
    assert retry_after(status, header, AT) == timedelta(seconds=seconds)


def test_it_never_shortens_our_pause() -> None:
    outcome = Outcome(429, retry_after=timedelta(seconds=7))
    assert [outcome.pause(attempts) for attempts in (1, 2)] == [timedelta(seconds=7), PAUSES[1]]
