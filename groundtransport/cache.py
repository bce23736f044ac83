"""Cache of values computed from a database, with a time to live (TTL).

cachetools has such a cache, but each access to it by several threads needs a lock; here each is one dict operation.
"""

import time
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool

Value = TypeVar("Value")


class TTLCache(Generic[Value]):
    """Cache whose values expire after ``seconds``; it holds at most ``max_size`` values of each database."""

    def __init__(self, seconds: float, max_size: int = 1_000) -> None:
        self.seconds, self.max_size = seconds, max_size
        self._values: WeakKeyDictionary[Pool, dict[Hashable, tuple[float, Value]]] = WeakKeyDictionary()

    def put(self, engine: Engine, key: Hashable, value: Value) -> None:
        """Store a value computed from the database of ``engine``."""
        values = self._values.setdefault(engine.pool, {})
        if len(values) >= self.max_size:
            values.clear()
        values[key] = time.monotonic(), value

    def get(self, engine: Engine, key: Hashable) -> Value | None:
        """Return the stored value; None if there is none or it has expired."""
        entry = self._values.get(engine.pool, {}).get(key)
        return entry[1] if entry and time.monotonic() - entry[0] < self.seconds else None

    def forget(self, engine: Engine) -> None:
        """Remove all values of a database, after a change."""
        self._values.pop(engine.pool, None)
