"""The states of countries: ISO 3166-2, from pycountry."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import orjson
import pycountry

from groundtransport.airports import tables
from groundtransport.text import fold

OUTLYING = {"US-UM"}  # uninhabited islands
_WORDS = (
    "area autonomous city community county department departamento district governorate kray krai metropolitan "
    "municipality oblast of okrug prefecture province provincia region republic state the territory voivodeship"
)
_GENERIC = frozenset(_WORDS.split())
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_BRACKET = re.compile(r"\s*[\[(](.*)[\])]\s*$")
_CODE = re.compile(r"\b[A-Z]{2}-[A-Z0-9]{2,3}\b")


@dataclass(frozen=True)
class State:
    """A state: its ISO 3166-2 code (``US-NY``) and its name on pages."""

    code: str
    name: str


@cache
def states_of(country: str) -> tuple[State, ...]:
    """Return the states of a country (ISO 3166-1 code), sorted by name."""
    states = (State(code, shown_name(name)) for code, name in _iso().get(country, ()) if code not in OUTLYING)
    return tuple(sorted(states, key=lambda state: (fold(state.name), state.code)))


@cache
def _iso() -> dict[str, list[tuple[str, str]]]:
    """Return the codes and names of all subdivisions, by country.

    They are read from pycountry's JSON file, because its objects would take 4 MB of memory in each worker.
    """
    subdivisions = pycountry.subdivisions
    by_country = defaultdict(list)
    for entry in orjson.loads(Path(subdivisions.filename).read_bytes())[subdivisions.root_key]:
        by_country[entry["code"][:2]].append((entry["code"], entry["name"]))
    return dict(by_country)


def shown_name(name: str) -> str:
    """Return ISO's name of a state without a redundant part in brackets: the name again, or an old code."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    if bracket is None:
        return name
    other = _CODE.sub("", bracket[1]).strip()
    return f"{plain} [{other}]" if other and other != plain else plain


@lru_cache(maxsize=1024)  # a file repeats few states
def find_state(country: str, text: str) -> State | None:
    """Return the state of a country by its code, the part of the code after the hyphen, or its name; else None.

    The name may be ISO's, English, Spanish or local, or a former one, with or without a word such as "Province".
    """
    codes, names, spellings, bare = _finders(country)
    code = fold(text).strip()
    if not code:
        return None
    key = _key(text)
    return codes.get(code) or names.get(key) or spellings.get(key) or bare.get(_bare(key))


@cache
def _finders(country: str) -> tuple[dict[str, State], dict[str, State], dict[str, State], dict[str, State]]:
    """Return a country's states by code, by name, by other names and spellings, and by names without generic words.

    What two states would share without such a word names neither: the city and the region of Moscow, for example.
    """
    codes: dict[str, State] = {}
    names: dict[str, State] = {}
    spellings: dict[str, State] = {}
    for state in states_of(country):
        for code in (state.code, state.code[3:]):
            codes.setdefault(code.casefold(), state)
        names.setdefault(_key(state.name), state)
    for state in states_of(country):
        for name in (state.name, *tables.state_names().get(state.code, ())):
            for spelling in _spellings(name):
                spellings.setdefault(spelling, state)
    return codes, names, spellings, _bare_names({**spellings, **names})


def _bare_names(states: dict[str, State]) -> dict[str, State]:
    """Return the states by their names without generic words, as far as the rest names one state only."""
    by_name = defaultdict(set)
    for key, state in states.items():
        by_name[_bare(key)].add(state)
    return {name: next(iter(same_name)) for name, same_name in by_name.items() if name and len(same_name) == 1}


def _bare(key: str) -> str:
    """Return the key of a name without generic words."""
    return " ".join(word for word in key.split() if word not in _GENERIC)


def _spellings(name: str) -> frozenset[str]:
    """Return the keys of a name's spellings: whole, ``Murcia, Región de`` reversed, and each side of a bracket."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    spellings = {name, plain, plain.translate(_UMLAUTS), " ".join(reversed(plain.split(",", 1)))}
    return frozenset(_key(spelling) for spelling in spellings | ({bracket[1]} if bracket else set()))


def _key(name: str) -> str:
    """Return a name for comparison: folded, with spaces in place of hyphens, apostrophes and other symbols."""
    return " ".join(re.sub(r"[^\w]", " ", fold(name)).split())


def state_name(code: str | None) -> str:
    """Return the name of an ISO 3166-2 code; the argument itself if the code is unknown."""
    if not code:
        return ""
    return next((state.name for state in states_of(code[:2]) if state.code == code), code)


def country_name(code: str) -> str:
    """Return the name of an ISO 3166-1 code; the argument itself if the code is unknown."""
    country = pycountry.countries.get(alpha_2=code)
    return str(getattr(country, "common_name", country.name)) if country else code
