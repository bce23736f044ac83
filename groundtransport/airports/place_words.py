"""Words for the state and the country of an airport, by which people tell cities of one name apart."""

from functools import cache

from babel import Locale

from groundtransport.airports.states import find_state
from groundtransport.i18n import LANGUAGES

# Where people write the state's code behind the city: Portland OR.
_WITH_STATE_CODES = ("US", "CA", "AU")
_OTHER_LANGUAGES = ("de", "fr", "it", "pt")
# What people write and no list of country names has.
_ABBREVIATIONS = {"US": ("USA", "US", "America"), "GB": ("UK", "Great Britain"), "AE": ("UAE", "Emirates")}


def place_words(country: str, state: str) -> tuple[str, ...]:
    """Return the names of a country (ISO 3166-1) in six languages, and those of its state."""
    known_state = find_state(country, state) if country in _WITH_STATE_CODES else None
    return (*((state,) if state else ()), *((known_state.code[3:],) if known_state else ()), *_country_names(country))


@cache
def _country_names(country: str) -> tuple[str, ...]:
    names = (Locale.parse(language).territories.get(country, "") for language in (*LANGUAGES, *_OTHER_LANGUAGES))
    return (*dict.fromkeys(filter(None, names)), *_ABBREVIATIONS.get(country, ()))
