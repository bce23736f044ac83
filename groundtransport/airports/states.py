"""The states of a country: ISO 3166-2, from pycountry."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

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
    # pycountry has no types.
    found: Iterable[Any] = pycountry.subdivisions.get(country_code=country) or ()  # type: ignore[no-untyped-call]
    states = (State(entry.code, shown_name(entry.name)) for entry in found if entry.code not in OUTLYING)
    return tuple(sorted(states, key=lambda state: (fold(state.name), state.code)))


def shown_name(name: str) -> str:
    """Return ISO's name of a state without the brackets that add nothing: the name again, or an old code."""
    plain, bracket = _BRACKET.sub("", name), _BRACKET.search(name)
    if bracket is None:
        return name
    other = _CODE.sub("", bracket[1]).strip()
    return f"{plain} [{other}]" if other and other != plain else plain


def find_state(country: str, text: str) -> State | None:
    """Return the state that a code, the part after its hyphen, or a name means in that country."""
    wanted = fold(text).strip()
    if not wanted:
        return None
    states = states_of(country)
    by_code = (state for state in states if wanted in (state.code.casefold(), state.code[3:].casefold()))
    by_name = (state for state in states if _key(text) == _key(state.name))
    by_spelling = (state for state in states if _key(text) in _spellings(state.name))
    return next(chain(by_code, by_name, by_spelling), None)


@cache
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
