"""Words for the state and the country of an airport, by which people tell cities of one name apart."""

from functools import cache

from babel import Locale

from groundtransport.airports.states import find_state
from groundtransport.airports.tables import state_names
from groundtransport.i18n import LANGUAGES

# Where people write the state's code behind the city: Portland OR.
_WITH_STATE_CODES = ("US", "CA", "AU")
_OTHER_LANGUAGES = ("de", "fr", "it", "pt")
# What people write and no list of country names has: short and former names.
_MORE_NAMES = {
    "AE": ("UAE", "Emirates"),
    "BJ": ("Dahomey",),
    "CI": ("Ivory Coast",),
    "CD": ("Zaire", "DR Congo"),
    "CZ": ("Czech Republic",),
    "GB": ("UK", "Great Britain"),
    "GG": ("Channel Islands",),
    "IR": ("Persia",),
    "JE": ("Channel Islands",),
    "KH": ("Kampuchea",),
    "LK": ("Ceylon",),
    "MM": ("Burma",),
    "NL": ("Holland",),
    "SZ": ("Swaziland",),
    "TH": ("Siam",),
    "TL": ("East Timor",),
    "TR": ("Turkey",),
    "TW": ("Formosa",),
    "US": ("USA", "US", "America"),
    "ZW": ("Rhodesia",),
}


def place_words(country: str, state: str) -> tuple[str, ...]:
    """Return the names of a state in English, Spanish and its own language, and of its country (ISO 3166-1) in six."""
    known = find_state(country, state) if state else None
    names = (state, known.name, *state_names().get(known.code, ())) if known else (state,)
    codes = (known.code[3:],) if known and country in _WITH_STATE_CODES else ()
    return (*filter(None, names), *codes, *_country_names(country))


@cache
def _country_names(country: str) -> tuple[str, ...]:
    names = (Locale.parse(language).territories.get(country, "") for language in (*LANGUAGES, *_OTHER_LANGUAGES))
    return (*dict.fromkeys(filter(None, names)), *_MORE_NAMES.get(country, ()))
