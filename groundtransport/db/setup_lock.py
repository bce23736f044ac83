"""Lock for setting up a database: several containers may start at once and would all migrate it and load data."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, func, select

_LOCK_ID = 0x67747365  # of a PostgreSQL advisory lock; an arbitrary number
PAUSE = 0.5  # seconds between two attempts


@contextmanager
def setup_lock(engine: Engine, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the database's set-up lock; if another process holds it, call ``on_wait`` once and wait without limit.

    The lock is released when the process that holds it ends, even by a crash.
    """
    lock = _postgresql_lock if engine.dialect.name == "postgresql" else _sqlite_lock
    with lock(engine) as try_lock:
        if not try_lock():
            on_wait()
            while not try_lock():
                time.sleep(PAUSE)
        yield


@contextmanager
def _postgresql_lock(engine: Engine) -> Iterator[Callable[[], bool]]:
    """Yield a function that tries to take the lock without waiting.

    A waiting statement would deadlock with CREATE INDEX CONCURRENTLY of the migrating process, which waits for all
    older transactions.
    """
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        try:
            yield lambda: bool(connection.scalar(select(func.pg_try_advisory_lock(_LOCK_ID))))
        finally:
            connection.invalidate()  # in the pool, the connection would keep its session-level lock


@contextmanager
def _sqlite_lock(engine: Engine) -> Iterator[Callable[[], bool]]:
    """Yield a function that tries to lock the folder of the file; SQLite uses locks of the file itself."""
    folder = os.open(Path(engine.url.database or "").absolute().parent, os.O_RDONLY)

    def try_lock() -> bool:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        yield try_lock
    finally:
        os.close(folder)
