"""One set-up of a database at a time: containers start several, and each would migrate and load what is missing."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, func, select

_LOCK = 0x67747365  # of PostgreSQL's advisory locks: any number that nobody else takes
PAUSE = 0.5  # seconds between two tries


@contextmanager
def setup_lock(engine: Engine, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the database's lock of set-ups; while another process has it, call ``waiting`` once and wait, without end.

    It ends with the process that holds it, however that ends.
    """
    lock = _of_postgresql if engine.dialect.name == "postgresql" else _of_sqlite
    with lock(engine) as attempt:
        if not attempt():
            waiting()
            while not attempt():
                time.sleep(PAUSE)
        yield


@contextmanager
def _of_postgresql(engine: Engine) -> Iterator[Callable[[], bool]]:
    """Yield what tries to take the lock; never a statement that waits for it.

    CREATE INDEX CONCURRENTLY of the one that migrates would wait for that statement, and it for the migration.
    """
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        try:
            yield lambda: bool(connection.scalar(select(func.pg_try_advisory_lock(_LOCK))))
        finally:
            connection.invalidate()  # a session's lock would outlive its way back to the pool


@contextmanager
def _of_sqlite(engine: Engine) -> Iterator[Callable[[], bool]]:
    """Yield what tries to take the lock: of the file's folder, since SQLite takes locks of the file itself."""
    folder = os.open(Path(engine.url.database or "").absolute().parent, os.O_RDONLY)

    def attempt() -> bool:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        yield attempt
    finally:
        os.close(folder)
