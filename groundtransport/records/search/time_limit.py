"""The time limit of searches and counts: the database stops a statement at the limit; the rows so far are shown."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

from psycopg.errors import QueryCanceled
from sqlalchemy import Connection, String, bindparam, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from groundtransport.db import database_timeout, is_pooled

SEARCH_SECONDS = 2.0
EXTRA_SECONDS = 0.5  # to find at least some rows after the limit
SLACK_SECONDS = 0.25  # by which a statement may exceed the limit, to save PostgreSQL a round trip for a new one
INSTRUCTIONS = 20_000  # of SQLite's virtual machine between two looks at the clock: well under a millisecond


class OutOfTime(Exception):
    """The time limit was reached, and the statement stopped."""


class Budget:
    """The time budget of a search, from its creation."""

    def __init__(self, dbsession: Session, seconds: float | None = None) -> None:
        self.dbsession = dbsession
        self.deadline = time.monotonic() + (SEARCH_SECONDS if seconds is None else seconds)
        self.limited: float | None = None  # seconds, PostgreSQL's statement_timeout as last set

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """True if the deadline has passed."""
        return time.monotonic() >= self.deadline

    def extend(self) -> None:
        """Move the deadline to EXTRA_SECONDS from now."""
        self.deadline = time.monotonic() + EXTRA_SECONDS

    @contextmanager
    def limit(self, *, usual: bool = False) -> Iterator[None]:
        """Stop the statements inside at the deadline, and raise OutOfTime then.

        On PostgreSQL, ``usual`` keeps the connection's own limit for statements that are hardly ever slow.
        """
        connection = self.dbsession.connection()
        try:
            if connection.dialect.name == "postgresql":
                if not usual:
                    self._set_limit(connection)
                yield
            else:
                with self._watch(connection):
                    yield
        except DBAPIError as error:
            if _was_stopped(error.orig):
                if is_pooled(connection.engine):
                    self.dbsession.rollback()  # reads are in a transaction there, which the error has ended
                raise OutOfTime from error
            raise

    def close(self) -> None:
        """Restore PostgreSQL's usual limit; call it at the end of every search."""
        if self.limited is None:
            return
        self.limited = None
        with suppress(SQLAlchemyError):  # a lost connection: its error is raised already
            connection = self.dbsession.connection()
            _execute_limit(connection, f"{database_timeout(connection.engine)}s")

    @contextmanager
    def _watch(self, connection: Connection) -> Iterator[None]:
        """Interrupt SQLite at the deadline."""
        driver: Any = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: self.is_over, INSTRUCTIONS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def _set_limit(self, connection: Connection) -> None:
        """Set PostgreSQL's limit to the time left, unless it is about that already: it takes a round trip."""
        seconds_left = max(0.01, self.deadline - time.monotonic())
        if self.limited is None or not seconds_left <= self.limited <= seconds_left + SLACK_SECONDS:
            self.limited = seconds_left
            _execute_limit(connection, f"{int(seconds_left * 1000)}ms")


_SET_LIMIT = select(func.set_config("statement_timeout", bindparam("limit", type_=String()), bindparam("is_local")))


def _execute_limit(connection: Connection, limit: str) -> None:
    """Set the limit of the connection's statements; behind PgBouncer only until the transaction ends."""
    connection.execute(_SET_LIMIT, {"limit": limit, "is_local": is_pooled(connection.engine)})


def _was_stopped(error: object) -> bool:
    return isinstance(error, QueryCanceled) or (
        isinstance(error, sqlite3.OperationalError) and str(error) == "interrupted"
    )
