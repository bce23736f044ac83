"""The states of countries: ISO 3166-2, from pycountry."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import orjson
import pycountry

from groundtransport.text import fold

OUTLYING = {"US-UM"}  # uninhabited islands
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
    """Return the state of a country by its code, the part of the code after the hyphen, or its name; else None."""
    codes, names, spellings = _finders(country)
    code = fold(text).strip()
    if not code:
        return None
    key = _key(text)
    return codes.get(code) or names.get(key) or spellings.get(key)


@cache
def _finders(country: str) -> tuple[dict[str, State], dict[str, State], dict[str, State]]:
    """Return a country's states by their codes, by their names, and by alternative spellings of the names."""
    codes: dict[str, State] = {}
    names: dict[str, State] = {}
    spellings: dict[str, State] = {}
    for state in states_of(country):
        for code in (state.code, state.code[3:]):
            codes.setdefault(code.casefold(), state)
        names.setdefault(_key(state.name), state)
        for spelling in _spellings(state.name):
            spellings.setdefault(spelling, state)
    return codes, names, spellings


def _spellings(name: str) -> frozenset[str]:
    """Return the keys of a name's spellings: whole, ``Murcia, Región de`` reversed, and each side of a bracket."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    spellings = {name, plain, " ".join(reversed(plain.split(",", 1)))}
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
