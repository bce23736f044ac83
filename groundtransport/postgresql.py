"""What PostgreSQL's connections need besides: limits of one transaction, and a server that was restarted is noticed."""

import select
import time
from typing import Any

import pyramid_retry
from psycopg import ClientCursor, OperationalError
from sqlalchemy import Connection, Dialect, Engine, event
from sqlalchemy.exc import DisconnectionError

FRESH = 1  # seconds: a connection that was used so shortly ago is not asked whether it still lives


def listen(engine: Engine) -> None:
    """Make an engine keep the limits of its execution options, and its connections alive."""
    event.listen(engine, "begin", _begin)
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", lambda driver, record, _: _ping(engine.dialect, driver, record))
    event.listen(engine, "handle_error", _read_again)


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    wait = options.get("wait")
    if wait is not None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(wait * 1000))}")  # 0 would mean for ever
    if not options.get("durable", True):
        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")


def in_one_go(connection: Connection, wait: float, statement: str, values: list[Any]) -> None:
    """Run a statement in a short transaction of its own that no disk is waited for: one round trip in place of five.

    The connection is in autocommit: what is sent as one text is one transaction, and its limits end with it.
    """
    limits = "SELECT set_config('lock_timeout', %s, true), set_config('synchronous_commit', 'off', true)"
    driver: Any = connection.connection.driver_connection
    with ClientCursor(driver) as cursor:
        whole = cursor.mogrify(f"{limits}; {statement}", [str(max(1, int(wait * 1000))), *values])
    connection.exec_driver_sql(whole, execution_options={"no_parameters": True})


def _read_again(context: Any) -> None:
    """Let pyramid_retry try a request again whose connection was lost while it read: nothing was changed."""
    connection, error = context.connection, context.sqlalchemy_exception
    reads = connection is not None and connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
    if context.is_disconnect and reads and error is not None:
        pyramid_retry.mark_error_retryable(error)


def _has_news(socket: int) -> bool:
    """Whether something waits at a socket that nothing was asked of: the end of the connection, most likely."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


def _note_use(driver: Any, record: Any) -> None:
    record.info["used"] = time.monotonic()


def _ping(dialect: Dialect, driver: Any, record: Any) -> None:
    """Notice a server that was restarted before the request, not by it.

    A connection that was just used, and at whose socket nothing has arrived since, needs no question. Others are asked
    outside of a transaction: at a rollback the driver forgets the statements that it has prepared.
    """
    if time.monotonic() - record.info.get("used", 0) < FRESH and not _has_news(driver.fileno()):
        return
    try:
        dialect.do_ping(driver)
    except OperationalError as error:
        raise DisconnectionError from error
