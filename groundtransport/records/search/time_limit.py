"""The time limit of searches and counts: the database stops a statement at the limit; the rows so far are shown."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

from psycopg.errors import QueryCanceled
from sqlalchemy import Connection, String, bindparam, false, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from groundtransport.db import STATEMENT

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
        return time.monotonic() >= self.deadline

    def extend(self) -> None:
        """Move the deadline to EXTRA_SECONDS from now."""
        self.deadline = time.monotonic() + EXTRA_SECONDS

    @contextmanager
    def limit(self, *, usual: bool = False, custom_plans: bool = False) -> Iterator[None]:
        """Stop the statements inside at the deadline, and raise OutOfTime then.

        On PostgreSQL, ``usual`` keeps the connection's own limit, STATEMENT, for statements that are hardly ever slow,
        and ``custom_plans`` plans each execution for its values (plan_cache_mode).
        """
        connection = self.dbsession.connection()
        try:
            if connection.dialect.name == "postgresql":
                if not usual:
                    self._set_limit(connection, custom_plans=custom_plans)
                yield
            else:
                with self._watch(connection):
                    yield
        except DBAPIError as error:
            if _was_stopped(error.orig):
                raise OutOfTime from error
            raise

    def close(self) -> None:
        """Restore PostgreSQL's usual limit and planning; call it at the end of every search."""
        if self.limited is None:
            return
        self.limited = None
        with suppress(SQLAlchemyError):  # a lost connection: its error is raised already
            self.dbsession.connection().execute(_SET_LIMIT, {"limit": f"{STATEMENT}s", "plans": "auto"})

    @contextmanager
    def _watch(self, connection: Connection) -> Iterator[None]:
        """Interrupt SQLite at the deadline."""
        driver: Any = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: self.is_over, INSTRUCTIONS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def set_by_statement(self) -> str:
        """Return the value ``limit`` of a statement that selects SET_TIMEOUT, and so sets the limit itself."""
        self.limited = max(0.01, self.deadline - time.monotonic())
        return f"{int(self.limited * 1000)}ms"

    def _set_limit(self, connection: Connection, *, custom_plans: bool) -> None:
        """Set PostgreSQL's limit to the time left, unless it is about that already: it takes a round trip."""
        left = max(0.01, self.deadline - time.monotonic())
        if custom_plans or self.limited is None or not left <= self.limited <= left + SLACK_SECONDS:
            plans = "force_custom_plan" if custom_plans else "auto"
            connection.execute(_SET_LIMIT, {"limit": self.set_by_statement(), "plans": plans})


# Sets the limit of the statements that follow to the bind parameter ``limit``.
SET_TIMEOUT = func.set_config("statement_timeout", bindparam("limit", type_=String()), false())
_SET_LIMIT = select(SET_TIMEOUT, func.set_config("plan_cache_mode", bindparam("plans", type_=String()), false()))


def _was_stopped(error: Any) -> bool:
    return isinstance(error, QueryCanceled) or (
        isinstance(error, sqlite3.OperationalError) and str(error) == "interrupted"
    )
