"""Statements that go along with the last one of a transaction: on PostgreSQL each alone takes a round trip."""

from typing import Any

from sqlalchemy import Update
from sqlalchemy.orm import Session


def expect_last(session: Session) -> None:
    """Announce that a last statement will come, just before the commit, and take along what waits for it."""
    if session.get_bind().dialect.name == "postgresql":
        session.info.setdefault("along", {})


def go_along(session: Session, name: str, statement: Update, values: dict[str, Any]) -> None:
    """Execute a statement with the last one of the transaction; now, where none is announced.

    Its values must not be named like those of the last one, nor like a column of its table.
    """
    waiting = session.info.get("along")
    if waiting is None:
        session.execute(statement, values)
    else:
        waiting[name] = statement, values


def waiting_for(session: Session) -> tuple[dict[str, Update], dict[str, Any]]:
    """Return the statements that wait, by their names, and the values of all: they are the caller's from now on."""
    waiting: dict[str, tuple[Update, dict[str, Any]]] = session.info.pop("along", {})
    return (
        {name: statement for name, (statement, _) in waiting.items()},
        {key: value for _, values in waiting.values() for key, value in values.items()},
    )
