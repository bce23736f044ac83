"""Count the SQL statements of a request and their time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, event


@dataclass
class Statements:
    """The number of statements that were executed and the seconds that they took."""

    count: int = 0
    seconds: float = 0.0


_current: ContextVar[Statements | None] = ContextVar("statements", default=None)
_BEGAN = "statement_began"  # key of ``Connection.info``: time.perf_counter() before the statement


@contextmanager
def counted() -> Iterator[Statements]:
    """Count the statements that this thread executes in the block."""
    statements = Statements()
    token = _current.set(statements)
    try:
        yield statements
    finally:
        _current.reset(token)


def listen(engine: Engine) -> None:
    """Make the statements of an engine countable."""
    event.listen(engine, "before_cursor_execute", _begin)
    event.listen(engine, "after_cursor_execute", _end)


def _begin(connection: Connection, *_: object) -> None:
    connection.info[_BEGAN] = time.perf_counter()


def _end(connection: Connection, *_: object) -> None:
    statements = _current.get()
    if statements is not None:
        statements.count += 1
        statements.seconds += time.perf_counter() - connection.info[_BEGAN]
