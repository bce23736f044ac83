"""Statements that go along with the last one of a transaction: on PostgreSQL each alone takes a round trip."""

from typing import Any

from sqlalchemy import Update
from sqlalchemy.orm import Session

from groundtransport.db import limit_waiting

Waiting = dict[str, tuple[Update, dict[str, Any]]]


def expect_last(session: Session) -> None:
    """Announce that a last statement of this transaction will come, and take along what waits; on SQLite nothing does.

    It is the last to lock anything but what goes along: whoever locked that must not write an entry afterwards.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.info["along"] = (session.info["tm"].get(), {})


def go_along(session: Session, name: str, statement: Update, values: dict[str, Any]) -> None:
    """Execute a statement with the last one of the transaction; now, where none is announced.

    ``name`` stands for the statement. Its values must not be named like those of the last one, nor like a column of a
    table that is written with it.
    """
    waiting = _waiting(session)
    if waiting is None:
        limit_waiting(session)
        session.execute(statement, values)
    else:
        waiting[name] = statement, values


def waiting_for(session: Session) -> Waiting:
    """Return the statements that wait, by their names, each with its values: they are the caller's from now on."""
    waiting = _waiting(session)
    session.info.pop("along", None)
    return waiting or {}


def _waiting(session: Session) -> Waiting | None:
    """Return what waits in this transaction; None where nothing may. Of one that was aborted, nothing is left."""
    transaction, waiting = session.info.get("along", (None, None))
    return waiting if transaction is not None and transaction is session.info["tm"].get() else None
