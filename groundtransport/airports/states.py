"""The states of a country: ISO 3166-2, from pycountry."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pycountry

from groundtransport.text import fold

OUTLYING = {"US-UM"}  # islands without people


@dataclass(frozen=True)
class State:
    """``code`` is ISO 3166-2 (``US-NY``), ``name`` is what is shown."""

    code: str
    name: str


@cache
def states_of(country: str) -> tuple[State, ...]:
    """Return the states of an ISO 3166-1 country, by name; none where it has none."""
    found: Iterable[Any] = pycountry.subdivisions.get(country_code=country) or ()  # type: ignore[no-untyped-call]
    states = (State(found_.code, found_.name) for found_ in found if found_.code not in OUTLYING)
    return tuple(sorted(states, key=lambda state: (fold(state.name), state.code)))


def find_state(country: str, text: str) -> State | None:
    """Return the state that a code, the part after its hyphen, or a name means in that country."""
    wanted = fold(text).strip()
    states = states_of(country)
    by_code = (state for state in states if wanted in (state.code.casefold(), state.code[3:].casefold()))
    by_name = (state for state in states if wanted == fold(state.name))
    return next(by_code, None) or next(by_name, None)


def state_name(code: str | None) -> str:
    """Return the name of an ISO 3166-2 code; the text itself when it is none."""
    if not code:
        return ""
    return next((state.name for state in states_of(code[:2]) if state.code == code), code)


def country_name(country: str) -> str:
    found = pycountry.countries.get(alpha_2=country)
    return str(getattr(found, "common_name", found.name)) if found else country
