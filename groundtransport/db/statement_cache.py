"""Statements that are made once for each shape of a query: making one takes longer than many a search."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")

MOST = 1_000
_MADE: dict[Hashable, Any] = {}


def cached_statement(shape: Hashable, make: Callable[[], Made]) -> Made:
    """Return the statement of that shape; the values it is filled with are named in it."""
    found: Made | None = _MADE.get(shape)
    if found is None:
        if len(_MADE) >= MOST:
            _MADE.clear()
        found = _MADE[shape] = make()
    return found
