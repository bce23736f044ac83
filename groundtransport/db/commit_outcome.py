"""What became of a COMMIT whose answer was lost: looked up on another connection, and never guessed."""

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session
from zope.sqlalchemy import datamanager

from groundtransport.db import deadline, postgresql
from groundtransport.db.transaction_options import with_options

log = logging.getLogger(__name__)

# Tells, on another connection and in a writing transaction, whether a transaction was committed. It must make sure that
# the transaction has ended: by a lock that it held.
Evidence = Callable[[Connection], bool]
EVIDENCE = "evidence"  # the name under which a transaction keeps it (``db.of_transaction``)


class OutcomeUnknown(OperationalError):
    """The answer to a COMMIT was lost: the transaction may be committed or not."""


def listen(engine: Engine) -> None:
    """Let a COMMIT of an engine that the database neither did nor refused raise OutcomeUnknown."""
    event.listen(engine, "handle_error", _name_it)


def _name_it(context: Any) -> OutcomeUnknown | None:
    error = context.original_exception
    # Whatever else has no text of its own, a failed ROLLBACK, is not raised.
    is_commit = context.connection is not None and context.statement is None
    if is_commit and (context.is_disconnect or isinstance(error, sqlite3.OperationalError)):
        return OutcomeUnknown("COMMIT", {}, error)
    return None


class DataManager(datamanager.SessionDataManager):
    """A session in the transaction manager's transaction: commits, and finds out what became of it."""

    def __init__(self, session: Session, kept: dict[str, Any]) -> None:
        super().__init__(session, datamanager.STATUS_CHANGED, session.info["tm"])
        self.kept = kept

    def tpc_vote(self, trans: Any) -> None:
        """Commit. When the answer is lost and the transaction is committed all the same, all is well.

        Raises OutcomeUnknown where that cannot be known; any other error means that nothing was changed.
        """
        session = self.session
        try:
            super().tpc_vote(trans)
        except OutcomeUnknown as error:
            session.close()  # on SQLite it holds the lock
            if not _is_committed(session.get_bind().engine, self.kept.get(EVIDENCE), error):
                raise OperationalError("COMMIT", {}, error.orig or error) from error
            log.warning("the answer to a COMMIT was lost, and it was done: %s", error.orig)
            self._finish("committed")
        if session is not None:
            session.info["has_committed"] = True

    def should_retry(self, error: Exception) -> bool:
        """Return whether an error changed nothing, and another try may succeed."""
        if isinstance(error, OutcomeUnknown):
            return False  # whatever the driver says of it: a write must not be made twice
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
        log.warning("nobody could be asked what became of a COMMIT", exc_info=True)
        raise error from None


def may_be_stored(session: Session | None, error: Exception) -> bool:
    """Return whether a part of a request's writes may be stored in spite of the error that ended it."""
    return isinstance(error, OutcomeUnknown) or (session is not None and bool(session.info.get("has_committed")))
