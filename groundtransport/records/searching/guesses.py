"""What was guessed of a search a moment ago: its next page, or the same search again, needs no new guess."""

import time
from collections.abc import Hashable
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool

LASTING = 60  # seconds
MOST = 1_000  # of one database

Guess = tuple[int, int]  # how many match, and how many can at most

_KEPT: WeakKeyDictionary[Pool, dict[Hashable, tuple[float, Guess]]] = WeakKeyDictionary()


def remember(engine: Engine, search: Hashable, guess: Guess) -> None:
    kept = _KEPT.setdefault(engine.pool, {})
    if len(kept) >= MOST:
        kept.clear()
    kept[search] = time.monotonic(), guess


def recall(engine: Engine, search: Hashable) -> Guess | None:
    """Return what was guessed in the last minute, if anything."""
    since, guess = _KEPT.get(engine.pool, {}).get(search, (None, None))
    return guess if since is not None and time.monotonic() - since < LASTING else None
