"""The time that a search or a count may take. When it is over, the database stops; what was found is the answer."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

from psycopg.errors import QueryCanceled
from sqlalchemy import ColumnElement, String, bindparam, case, false, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from groundtransport.db import STATEMENT

SEARCH = 2.0  # seconds
MORE = 0.5  # seconds
SLACK = 0.25  # seconds that a statement may take too long, before PostgreSQL is told a new limit
INSTRUCTIONS = 20_000  # of SQLite's machine between two looks at the clock: well under a millisecond
# PostgreSQL's plan_cache_mode. As usual, the sixth time a plan without regard to values is kept, if it looks as cheap.
ONCE, ANEW, AS_USUAL = "force_generic_plan", "force_custom_plan", "auto"


class OutOfTime(Exception):
    """The statement was stopped."""


class Budget:
    """Counts from its making."""

    def __init__(self, dbsession: Session, seconds: float | None = None) -> None:
        self.dbsession = dbsession
        self.deadline = time.monotonic() + (SEARCH if seconds is None else seconds)
        self.limited: float | None = None  # the seconds a statement may take, as PostgreSQL was told

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    def extend(self) -> None:
        """Give a last short while, to find at least something."""
        self.deadline = time.monotonic() + MORE

    @contextmanager
    def limit(self, *, usual: bool = False, plans: str = AS_USUAL) -> Iterator[None]:
        """Stop the statements inside at the deadline; raise OutOfTime then.

        On PostgreSQL, ``usual`` leaves it at the usual limit, STATEMENT, for what hardly ever takes long, and
        ``plans`` tells whether their plans have regard to values: ONCE and for all, ANEW each time, or AS_USUAL.
        """
        connection = self.dbsession.connection()
        try:
            if connection.dialect.name == "postgresql":
                if not usual:
                    self._tell(connection, plans)
                yield
            else:
                with self._watch(connection):
                    yield
        except DBAPIError as error:
            if _was_stopped(error.orig):
                raise OutOfTime from error
            raise

    def close(self) -> None:
        """Let PostgreSQL's statements be planned and take their time as usual. Whoever began a search ends it so."""
        if self.limited is None:
            return
        self.limited = None
        with suppress(SQLAlchemyError):  # of a connection that was lost: the error that told so is on its way
            self.dbsession.connection().execute(_TELLING, {"limit": f"{STATEMENT}s", "plans": AS_USUAL})

    @contextmanager
    def _watch(self, connection: Any) -> Iterator[None]:
        driver = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: self.is_over, INSTRUCTIONS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def told(self) -> str:
        """Return the limit for PostgreSQL that a statement sets by its way, in ``LIMITING``."""
        self.limited = max(0.01, self.deadline - time.monotonic())
        return f"{int(self.limited * 1000)}ms"

    def _tell(self, connection: Any, plans: str) -> None:
        """Tell PostgreSQL what is left, unless it knows about as much: each telling is a round trip."""
        left = max(0.01, self.deadline - time.monotonic())
        if plans != AS_USUAL or self.limited is None or not left <= self.limited <= left + SLACK:
            connection.execute(_TELLING, {"limit": self.told(), "plans": plans})


# Sets the limit of the statements that follow, to the value ``limit``.
LIMITING = func.set_config("statement_timeout", bindparam("limit", type_=String()), false())


def planning_once(condition: ColumnElement[bool]) -> ColumnElement[str]:
    """Return what lets PostgreSQL plan the statements that follow without regard to their values, where this is true.

    Planning a search takes longer than making it: all texts of the statistics are held against its pieces. This is for
    statements whose plan does not depend on values, and lasts until the limit is told anew.
    """
    return func.set_config("plan_cache_mode", case((condition, ONCE), else_=AS_USUAL), false())


_TELLING = select(LIMITING, func.set_config("plan_cache_mode", bindparam("plans", type_=String()), false()))


def _was_stopped(error: Any) -> bool:
    return isinstance(error, QueryCanceled) or (
        isinstance(error, sqlite3.OperationalError) and str(error) == "interrupted"
    )
