"""The states of a country: ISO 3166-2, from pycountry."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import orjson
import pycountry

from groundtransport.text import fold

OUTLYING = {"US-UM"}  # islands without people
_BRACKET = re.compile(r"\s*[\[(](.*)[\])]\s*$")
_CODE = re.compile(r"\b[A-Z]{2}-[A-Z0-9]{2,3}\b")


@dataclass(frozen=True)
class State:
    """``code`` is ISO 3166-2 (``US-NY``), ``name`` is what is shown."""

    code: str
    name: str


@cache
def states_of(country: str) -> tuple[State, ...]:
    """Return the states of an ISO 3166-1 country, by name; none where it has none."""
    states = (State(code, shown_name(name)) for code, name in _iso().get(country, ()) if code not in OUTLYING)
    return tuple(sorted(states, key=lambda state: (fold(state.name), state.code)))


@cache
def _iso() -> dict[str, list[tuple[str, str]]]:
    """Return the code and the name of every subdivision, by country.

    They are read from pycountry's file: the objects that it makes of them take four megabytes of each worker.
    """
    subdivisions = pycountry.subdivisions
    found = defaultdict(list)
    for entry in orjson.loads(Path(subdivisions.filename).read_bytes())[subdivisions.root_key]:
        found[entry["code"][:2]].append((entry["code"], entry["name"]))
    return dict(found)


def shown_name(name: str) -> str:
    """Return ISO's name of a state without the brackets that add nothing: the name again, or an old code."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    if bracket is None:
        return name
    other = _CODE.sub("", bracket[1]).strip()
    return f"{plain} [{other}]" if other and other != plain else plain


@lru_cache(maxsize=1024)  # files name the same few again and again
def find_state(country: str, text: str) -> State | None:
    """Return the state that a code, the part after its hyphen, or a name means in that country."""
    code, names, spellings = _finders(country)
    wanted = fold(text).strip()
    if not wanted:
        return None
    key = _key(text)
    return code.get(wanted) or names.get(key) or spellings.get(key)


@cache
def _finders(country: str) -> tuple[dict[str, State], dict[str, State], dict[str, State]]:
    """Return a country's states by their codes, by their names and by other spellings of these, the first of each."""
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
    """Return the keys of a name as it is written: whole, ``Murcia, Región de`` turned round, each side of a bracket."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    spellings = {name, plain, " ".join(reversed(plain.split(",", 1)))}
    return frozenset(_key(spelling) for spelling in spellings | ({bracket[1]} if bracket else set()))


def _key(name: str) -> str:
    """Return a name as it is compared: folded, and hyphens and apostrophes (of which there are many) as blanks."""
    return " ".join(re.sub(r"[^\w]", " ", fold(name)).split())


def state_name(code: str | None) -> str:
    """Return the name of an ISO 3166-2 code; the text itself when it is none."""
    if not code:
        return ""
    return next((state.name for state in states_of(code[:2]) if state.code == code), code)


def country_name(country: str) -> str:
    found = pycountry.countries.get(alpha_2=country)
    return str(getattr(found, "common_name", found.name)) if found else country
