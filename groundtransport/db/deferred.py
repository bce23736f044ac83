"""Statements that go along with the last one of a transaction: on PostgreSQL each alone takes a round trip."""

from typing import Any

from sqlalchemy import Update
from sqlalchemy.orm import Session

from groundtransport.db import limit_lock_wait, transaction_data

Waiting = list[tuple[Update, dict[str, Any]]]


def expect_last(session: Session) -> None:
    """Announce that a last statement of this transaction will come, and take along what waits; on SQLite nothing does.

    It is the last to lock anything but what goes along: whoever locked that must not write an entry afterwards.
    """
    if session.get_bind().dialect.name == "postgresql":
        transaction_data(session)["along"] = []


def go_along(session: Session, statement: Update, values: dict[str, Any]) -> None:
    """Execute a statement, made once for all, with the last one of the transaction; now, where none is announced.

    Its values must not be named like those of the last one, nor like a column of a table that is written with it.
    """
    waiting: Waiting | None = transaction_data(session).get("along")
    if waiting is None:
        limit_lock_wait(session)
        session.execute(statement, values)
    else:
        waiting.append((statement, values))


def waiting_for(session: Session) -> Waiting:
    """Return the statements that wait, each with its values: they are the caller's from now on."""
    waiting: Waiting = transaction_data(session).pop("along", [])
    return waiting
