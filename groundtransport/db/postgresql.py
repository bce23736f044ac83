"""PostgreSQL: time limits of connections and transactions, and detection of restarted or silent servers."""

import select
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import pyramid_retry
from psycopg import OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from sqlalchemy import Connection, Dialect, Engine, ExceptionContext, event
from sqlalchemy.engine import ExecutionContext
from sqlalchemy.exc import InvalidatePoolError

from groundtransport.db import deadline
from groundtransport.db.limited_connection import CONNECT, SETTLE, LimitedConnection
from groundtransport.db.transaction_options import options_of

__all__ = [
    "CONNECT",
    "FRESH",
    "PING",
    "SETTLE",
    "is_read_only",
    "listen",
    "plan_options",
    "renew_deadline",
    "tcp_options",
]

FRESH = 1  # seconds since its last use during which a connection is not pinged
PING = 1  # seconds that the answer to a ping may take
# Limits of the kernel for commands and idle connections, which no deadline covers. Seconds, but milliseconds for
# tcp_user_timeout, which also limits retransmissions.
TCP = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10_000}
MANY = 100  # values from which a statement is planned anew; see plan_options
_PLAN_ANEW = "plan_anew"  # execution option of a statement
_USED_AT = "used"  # key of a pool record's ``info``: time.monotonic() of the last use


def tcp_options(query: Collection[str]) -> dict[str, int]:
    """Return libpq's options that detect a dead network, except those that the query of the database URL sets."""
    return {name: value for name, value in TCP.items() if name not in query}


def listen(engine: Engine, limits: Mapping[str, str] | None = None) -> None:
    """Make an engine apply the transaction options and the deadline of requests, and check its connections.

    ``limits`` are settings of PostgreSQL for each transaction, in place of settings of the connection.
    """
    dialect: Any = engine.dialect
    dialect.connect = LimitedConnection.connect
    event.listen(engine, "begin", partial(_begin, settings=dict(limits or {})))
    event.listen(engine, "connect", _note_use)
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", lambda driver, record, _: _check(engine.dialect, driver, record))
    event.listen(engine, "do_execute", _execute_unprepared)
    event.listen(engine, "handle_error", _retry_lost_reads)
    event.listen(engine, "handle_error", _disconnect_if_read_only)


def plan_options(number: int) -> dict[str, bool]:
    """Return the execution options of a statement with ``number`` values or rows in one parameter.

    PostgreSQL keeps the plan of a prepared statement until the table is analyzed. A plan that was made for an empty
    table reads it whole, also after an import has filled it. So a statement with many values is not prepared.
    """
    return {_PLAN_ANEW: number >= MANY}


def _execute_unprepared(cursor: Any, statement: str, parameters: object, context: ExecutionContext) -> bool:
    """Execute a statement with the option as one that is not prepared; return False for any other."""
    if not context.execution_options.get(_PLAN_ANEW):
        return False
    cursor.execute(statement, parameters, prepare=False)
    return True


def _begin(connection: Connection, settings: dict[str, str]) -> None:
    options, local = options_of(connection), dict(settings)
    if options.lock_timeout is not None:
        local["lock_timeout"] = f"{max(1, int(options.lock_timeout * 1000))}ms"  # 0 would mean no limit
    if not options.durable:
        local["synchronous_commit"] = "off"
    if local:  # in one text, which is one round trip
        connection.exec_driver_sql("; ".join(f"SET LOCAL {name} = '{value}'" for name, value in local.items()))


def _retry_lost_reads(context: ExceptionContext) -> None:
    """Mark the error of a connection lost while reading for pyramid_retry: the request has changed nothing."""
    connection, error = context.connection, context.sqlalchemy_exception
    reads = connection is not None and options_of(connection).is_retryable
    if context.is_disconnect and reads and error is not None and deadline.left() > SETTLE:
        pyramid_retry.mark_error_retryable(error)


def is_read_only(error: object) -> bool:
    """Return True if the error says that the server does not accept writes, as a standby or a demoted leader."""
    return isinstance(error, ReadOnlySqlTransaction)


def _disconnect_if_read_only(context: ExceptionContext) -> None:
    """Discard the connections to a server that does not accept writes; new ones may reach the leader."""
    if is_read_only(context.original_exception):
        context.is_disconnect = True


def has_limits(engine: Engine) -> bool:
    """Return True if statements are limited in time. PgBouncer can be told to ignore the settings of a connection."""
    with engine.connect() as connection:
        return connection.exec_driver_sql("SHOW statement_timeout").scalar_one() != "0"


def _note_use(driver: Any, record: Any) -> None:
    if record is not None:  # None for an invalidated connection
        record.info[_USED_AT] = time.monotonic()


def _check(dialect: Dialect, driver: LimitedConnection, record: object) -> None:
    """Set the deadline of a connection taken from the pool, and ping it if needed."""
    driver.ends_at = deadline.current()
    with driver.limit(time.monotonic() + PING):
        _ping(dialect, driver, record)


def renew_deadline(connection: Connection) -> None:
    """Set the deadline of a connection to the current one: it was taken from the pool under an earlier one."""
    driver: Any = connection.connection.driver_connection
    driver.ends_at = deadline.current()


def _ping(dialect: Dialect, driver: Any, record: Any) -> None:
    """Raise InvalidatePoolError if the server does not answer, so that the pool opens another connection.

    A connection that was used just now and whose socket has nothing to read is not pinged. The ping runs outside a
    transaction, because psycopg forgets prepared statements at a rollback.
    """
    if time.monotonic() - record.info.get(_USED_AT, 0) < FRESH and not _is_readable(driver.fileno()):
        return
    try:
        dialect.do_ping(driver)
    except OperationalError as error:
        raise InvalidatePoolError from error  # the other connections are lost too


def _is_readable(socket: int) -> bool:
    """Return True if an idle socket has something to read; most likely the server closed the connection."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
