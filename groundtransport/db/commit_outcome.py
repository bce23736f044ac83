"""Find out on another connection whether a COMMIT was done whose answer was lost."""

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session
from zope.sqlalchemy import datamanager

from groundtransport.db import deadline, postgresql
from groundtransport.db.transaction_options import with_options

log = logging.getLogger(__name__)

# Returns whether a transaction was committed. It is called on another connection, in a writing transaction, and must
# prove that the first transaction has ended, by taking a lock that it held.
Evidence = Callable[[Connection], bool]
EVIDENCE = "evidence"  # its key in ``db.transaction_data``


class OutcomeUnknown(OperationalError):
    """The answer to a COMMIT was lost: the transaction may have been committed or not."""


def listen(engine: Engine) -> None:
    """Have an engine raise OutcomeUnknown if the database neither confirms nor refuses a COMMIT."""
    event.listen(engine, "handle_error", _as_unknown_outcome)


def _as_unknown_outcome(context: ExceptionContext) -> OutcomeUnknown | None:
    error = context.original_exception
    # Only COMMIT and ROLLBACK have no statement, and SQLAlchemy does not raise the error of a ROLLBACK.
    is_commit = context.connection is not None and context.statement is None
    if is_commit and (context.is_disconnect or isinstance(error, sqlite3.OperationalError)):
        return OutcomeUnknown("COMMIT", {}, error)
    return None


class DataManager(datamanager.SessionDataManager):
    """The session's part in the transaction manager's transaction. ``data`` is what ``db.transaction_data`` returns."""

    def __init__(self, session: Session, data: dict[str, Any]) -> None:
        super().__init__(session, datamanager.STATUS_CHANGED, session.info["tm"])
        self.data = data

    def tpc_vote(self, trans: object) -> None:
        """Commit. If the answer is lost, look up the outcome; return if the transaction was committed.

        Raise OutcomeUnknown if the outcome cannot be found out; after any other error nothing was changed.
        """
        session = self.session
        try:
            super().tpc_vote(trans)
        except OutcomeUnknown as error:
            session.close()  # on SQLite it still holds the write lock
            if not _is_committed(session.get_bind().engine, self.data.get(EVIDENCE), error):
                raise OperationalError("COMMIT", {}, error.orig or error) from error
            log.warning("the answer to a COMMIT was lost, and it was done: %s", error.orig)
            self._finish("committed")
        if session is not None:
            session.info["has_committed"] = True

    def should_retry(self, error: Exception) -> bool:
        """Return whether nothing was changed before an error, and another attempt may succeed."""
        if isinstance(error, OutcomeUnknown):
            return False  # even if the driver's error is a retryable one: a write must not be made twice
        is_read_only = isinstance(error, DBAPIError) and postgresql.is_read_only(error.orig)
        return is_read_only or bool(super().should_retry(error))


def _is_committed(engine: Engine, evidence: Evidence | None, error: OutcomeUnknown) -> bool:
    if evidence is None:
        raise error
    wait = postgresql.SETTLE
    try:
        with (
            deadline.at_least(wait),
            with_options(engine, begin="IMMEDIATE", lock_timeout=wait).connect() as connection,
        ):
            return evidence(connection)
    except SQLAlchemyError:
        log.warning("the outcome of a COMMIT could not be looked up", exc_info=True)
        raise error from None


def may_be_stored(session: Session | None, error: Exception) -> bool:
    """Return whether some of a request's writes may be stored although ``error`` ended it."""
    return isinstance(error, OutcomeUnknown) or (session is not None and bool(session.info.get("has_committed")))
