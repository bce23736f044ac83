"""Format numbers, dates and times in the language of the request, with Babel.

The scripts use the same formats with ``Intl`` (``static/texts.js``). Times use the 24-hour clock in every language.
"""

from datetime import date, datetime
from decimal import Decimal

from babel import Locale
from babel.dates import format_date, format_skeleton
from babel.numbers import format_decimal
from pyramid.threadlocal import get_current_request


def _language() -> str:
    """Return the language of the current request; ``en`` without a request, as in commands."""
    request = get_current_request()
    language: str = request.locale_name if request else "en"
    return language


def number(value: int) -> str:
    """Return a number with the separators of the language: ``6,000`` in English, ``6.000`` in Spanish."""
    return format_decimal(value, locale=_language())


def decimal(value: Decimal, scale: int) -> str:
    """Return a decimal number with ``scale`` decimals: ``1,250.50`` in English, ``1.250,50`` in Spanish."""
    return format_decimal(value, format=f"#,##0.{'0' * scale}" if scale else "#,##0", locale=_language())


def country(code: str) -> str:
    """Return the name of a country (ISO 3166-1): ``Germany``, ``Alemania``; the code itself if it is unknown."""
    return country_name(code, _language())


def country_name(code: str, language: str) -> str:
    """Return the name of a country in a language; the code itself if it is unknown."""
    return str(Locale.parse(language).territories.get(code, code))


def day(value: date) -> str:
    """Return a date: ``Nov 3, 2026``."""
    return format_date(value, "medium", locale=_language())


def short_day(value: date) -> str:
    """Return a date without its year: ``Nov 3``."""
    return format_skeleton("MMMd", datetime(value.year, value.month, value.day), locale=_language())


def moment(value: datetime) -> str:
    """Return a time in UTC to the minute: ``Nov 3, 2026, 16:05 UTC``."""
    return f"{day(value)}, {value:%H:%M} UTC"


FILTERS = {"number": number, "day": day, "short_day": short_day, "moment": moment}  # filters of the templates
