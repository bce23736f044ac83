"""Cache of values computed from a database, with a time to live (TTL).

cachetools has such a cache, but each access to it by several threads needs a lock; here each is one dict operation.
"""

import time
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool

Value = TypeVar("Value")
CACHE_OF = "groundtransport_cache_of"  # execution option of a replica's engine: the pool of its leader


class TTLCache(Generic[Value]):
    """Cache whose values expire after ``seconds``; it holds at most ``max_size`` values of each database."""

    def __init__(self, seconds: float, max_size: int = 1_000) -> None:
        self.seconds, self.max_size = seconds, max_size
        self._values: WeakKeyDictionary[Pool, dict[Hashable, tuple[float, Value]]] = WeakKeyDictionary()

    def put(self, engine: Engine, key: Hashable, value: Value) -> None:
        """Store a value computed from the database of ``engine``."""
        values = self._values.setdefault(_pool_of(engine), {})
        if len(values) >= self.max_size:
            values.clear()
        values[key] = time.monotonic(), value

    def get(self, engine: Engine, key: Hashable) -> Value | None:
        """Return the stored value; None if there is none or it has expired."""
        entry = self._values.get(_pool_of(engine), {}).get(key)
        return entry[1] if entry and time.monotonic() - entry[0] < self.seconds else None

    def forget(self, engine: Engine) -> None:
        """Remove all values of a database, after a change."""
        self._values.pop(_pool_of(engine), None)


def _pool_of(engine: Engine) -> Pool:
    """Return the pool that stands for the database of an engine: a replica has its leader's values."""
    pool: Pool = engine.get_execution_options().get(CACHE_OF, engine.pool)
    return pool
