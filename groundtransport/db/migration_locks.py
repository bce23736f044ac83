"""Migrations beside running writers on PostgreSQL: no statement holds writers up by waiting long for a lock.

A statement that waits for a table, such as ALTER TABLE, makes all later users of the table wait behind it. So it gives
up after WAIT, and the upgrade is tried again after PAUSE, from the migration that was not done.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError

from groundtransport.db.limited_connection import LimitedConnection

WAIT = 0.5  # seconds
PAUSE = 1.0  # seconds
ATTEMPTS = 120


@contextmanager
def short_lock_waits(connection: Connection) -> Iterator[None]:
    """Limit the lock waits of a connection to WAIT, except for CONCURRENTLY, which waits without holding others up.

    The connection is closed afterwards, and not used for anything else.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    _set_limit(connection, WAIT).commit()
    event.listen(connection, "before_cursor_execute", _before)
    event.listen(connection, "after_cursor_execute", _after)
    try:
        yield
    finally:
        connection.invalidate()


def _before(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
    if " CONCURRENTLY " in statement:
        _set_limit(connection, 0)


def _after(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
    if " CONCURRENTLY " in statement:
        _set_limit(connection, WAIT)


def _set_limit(connection: Connection, seconds: float) -> LimitedConnection:
    driver = connection.connection.dbapi_connection  # not by the connection, whose listeners these are
    assert isinstance(driver, LimitedConnection)
    driver.execute(f"SET lock_timeout = {int(seconds * 1000)}")  # 0 is no limit
    return driver


def repeat(upgrade: Callable[[], object]) -> None:
    """Call ``upgrade`` until no statement of it gave up waiting for a lock, at most ATTEMPTS times."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            upgrade()
        except OperationalError as error:
            if attempt == ATTEMPTS or not isinstance(error.orig, LockNotAvailable):
                raise
            time.sleep(PAUSE)
        else:
            return
