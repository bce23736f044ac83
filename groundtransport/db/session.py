"""Sessions whose transaction is committed by a transaction manager (the ``transaction`` package)."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event, text
from sqlalchemy.orm import Session
from transaction import TransactionManager
from zope.sqlalchemy import datamanager

from groundtransport.db import commit_outcome
from groundtransport.db.engine import database_timeout, write_engine

MIN_LOCK_TIMEOUT = 0.05  # seconds
_SET_LOCK_TIMEOUT = text("SELECT set_config('lock_timeout', :wait, true)")  # one object, so it is compiled once


class JoinedSession(Session):
    """A session that joins the transaction of the manager ``info["tm"]`` when it begins; only the manager commits."""


# Class-level listeners in place of zope.sqlalchemy.register(), which adds listeners to each session.
@event.listens_for(JoinedSession, "after_begin")
@event.listens_for(JoinedSession, "after_attach")
def _join(session: Session, *_: object) -> None:
    data = transaction_data(session)
    if "joined" not in data:
        # The data manager treats the session as changed from the start: it does not notice bulk statements.
        data["joined"] = commit_outcome.DataManager(session, data)


@event.listens_for(JoinedSession, "before_commit")
def _forbid_direct_commit(session: Session) -> None:
    is_due = session.in_nested_transaction() or session.info["tm"].get().status == datamanager.ZopeStatus.COMMITTING
    assert is_due, "commit by the transaction manager"


def make_session(engine: Engine, tm: TransactionManager) -> Session:
    """Return a session that writes in the transaction of ``tm``; ``session.info["tm"]`` is the manager."""
    return JoinedSession(write_engine(engine), info={"tm": tm})


def transaction_data(session: Session) -> dict[str, Any]:
    """Return the dictionary of a JoinedSession's current transaction; it is discarded with the transaction."""
    transaction = session.info["tm"].get()
    try:
        data: dict[str, object] = transaction.data(session)
    except KeyError:
        data = {}
        transaction.set_data(session, data)
    return data


def limit_lock_wait(session: Session) -> None:
    """Limit the lock waits of the transaction to the time that the request has left.

    Does nothing on SQLite, and nothing while more than ``settings.database_timeout`` is left, the limit of each
    connection.
    """
    seconds_left = session.info.get("deadline", math.inf) - time.monotonic()
    engine = session.get_bind().engine
    if engine.dialect.name == "postgresql" and seconds_left < database_timeout(engine):
        session.execute(_SET_LOCK_TIMEOUT, {"wait": str(int(max(MIN_LOCK_TIMEOUT, seconds_left) * 1000))})


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """Yield the session of one writing transaction, for commands. Commit at the end; roll back on an exception."""
    tm = TransactionManager(explicit=True)
    tm.begin()
    session = make_session(engine, tm)
    try:
        yield session
        tm.commit()
    except BaseException:
        tm.abort()
        raise
    finally:
        session.close()
