"""What was found a moment ago, of each database: for what changes seldom and takes long to find."""

import time
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool

Found = TypeVar("Found")


class TTLCache(Generic[Found]):
    """Keeps what was found for so many seconds, and of one database no more than ``most``."""

    def __init__(self, seconds: float, most: int = 1_000) -> None:
        self.seconds, self.most = seconds, most
        self._kept: WeakKeyDictionary[Pool, dict[Hashable, tuple[float, Found]]] = WeakKeyDictionary()

    def put(self, engine: Engine, key: Hashable, found: Found) -> None:
        kept = self._kept.setdefault(engine.pool, {})
        if len(kept) >= self.most:
            kept.clear()
        kept[key] = time.monotonic(), found

    def get(self, engine: Engine, key: Hashable) -> Found | None:
        """Return what was found, if that was a moment ago."""
        entry = self._kept.get(engine.pool, {}).get(key)
        return entry[1] if entry and time.monotonic() - entry[0] < self.seconds else None

    def forget(self, engine: Engine) -> None:
        """Forget what was found in a database: it was changed."""
        self._kept.pop(engine.pool, None)
