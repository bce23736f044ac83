"""A read-only transaction of several minutes that sees one state of the database."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Connection, Engine

from groundtransport.db import deadline

STATEMENT = 60  # seconds of one statement of a snapshot (PostgreSQL)
PAUSE = 300  # seconds between two statements; then PostgreSQL ends the transaction


@contextmanager
def snapshot(engine: Engine, seconds: float) -> Iterator[Connection]:
    """Yield a connection of its own whose queries all see the same state, for at most ``seconds``.

    It does not use the request's connection and is not bound to the deadline of the request.
    """
    with deadline.until(time.monotonic() + seconds):  # when the connection is taken from the pool
        connection = _read_only(engine).connect()
    with closing(connection):
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(
                f"SET LOCAL statement_timeout = '{STATEMENT}s'; "
                f"SET LOCAL idle_in_transaction_session_timeout = '{PAUSE}s'"
            )
        yield connection


def _read_only(engine: Engine) -> Engine:
    """Return the engine with REPEATABLE READ; SQLite's transactions are snapshots already."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
