"""Cache of SQLAlchemy statements, keyed by query shape. Building one takes longer than executing most searches."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Statement = TypeVar("Statement")

MAX_STATEMENTS = 1_000
_statements: dict[Hashable, Any] = {}


def cached_statement(shape: Hashable, build: Callable[[], Statement]) -> Statement:
    """Return the statement for a query shape, from ``build`` on first use. Values must be bind parameters."""
    statement: Statement | None = _statements.get(shape)
    if statement is None:
        if len(_statements) >= MAX_STATEMENTS:
            _statements.clear()
        statement = _statements[shape] = build()
    return statement
