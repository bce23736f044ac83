"""Numbers, days and times in the reader's language."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyramid import testing
from pyramid.threadlocal import manager

from groundtransport import formats

PACKAGE = Path(formats.__file__).parent


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    asking = testing.DummyRequest(locale_name=request.param)
    with testing.testConfig(request=asking):
        yield request.param


def test_numbers_have_the_separators_of_the_language(language: str) -> None:
    assert formats.number(6000) == {"en": "6,000", "es": "6.000"}[language]
    assert formats.number(1234567) == {"en": "1,234,567", "es": "1.234.567"}[language]
    assert formats.number(0) == "0"


def test_days_and_times_are_those_of_the_language(language: str) -> None:
    assert formats.day(date(2026, 11, 3)) == {"en": "Nov 3, 2026", "es": "3 nov 2026"}[language]
    assert formats.short_day(date(2026, 11, 3)) == {"en": "Nov 3", "es": "3 nov"}[language]
    at = datetime(2026, 11, 3, 16, 5, tzinfo=UTC)
    assert formats.moment(at) == {"en": "Nov 3, 2026, 16:05 UTC", "es": "3 nov 2026, 16:05 UTC"}[language]


def test_the_command_line_writes_english() -> None:
    assert not manager.get()["request"]
    assert formats.number(6000) == "6,000"


def test_no_template_and_no_script_formats_by_itself() -> None:
    """A format that is written out is one language's: templates use the filters, scripts ``formatNumber`` and Intl."""
    for path in [*PACKAGE.rglob("*.jinja2"), *(PACKAGE / "static").glob("*.js")]:
        result = re.search(r"\{:,|strftime|toLocale", path.read_text())
        assert not result, f"{path.name}: {result and result[0]}"
