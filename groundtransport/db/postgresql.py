"""What PostgreSQL's connections need besides: limits of one transaction, of a request's waiting, and a server that was
restarted, or is silent, is noticed.
"""

import math
import select
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Self

import pyramid_retry
from psycopg import Connection as DriverConnection
from psycopg import OperationalError
from psycopg.errors import ConnectionTimeout, ReadOnlySqlTransaction
from sqlalchemy import Connection, Dialect, Engine, event
from sqlalchemy.exc import InvalidatePoolError

from groundtransport.db import deadline

FRESH = 1  # seconds: a connection that was used so shortly ago is not asked whether it still lives
PING = 1  # seconds that the answer to that may take
CONNECT = 2  # seconds that one host may take to connect
SETTLE = 1  # seconds that are kept for the question what became of a COMMIT without an answer
# The kernel's part, for what the client's limit does not cover: commands, and connections that nobody uses. Seconds;
# milliseconds for tcp_user_timeout, which also ends the retransmission of what nobody acknowledges.
TCP = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10_000}


class LimitedConnection(DriverConnection[Any]):
    """A connection of psycopg that waits for its server until ``ends_at`` only, and is closed then.

    The server's own limits do not help when it, or the network, is silent; nor does TCP, where something between
    acknowledges what it does not pass on.
    """

    ends_at = math.inf  # of time.monotonic()

    @classmethod
    def _connect_gen(cls, *words: Any, **more: Any) -> Generator[Any, Any, Self]:
        until = min(deadline.current(), time.monotonic() + CONNECT)
        connection: Self = yield from _limited(super()._connect_gen(*words, **more), lambda: until, _refuse)
        connection.ends_at = deadline.current()
        return connection

    def wait(self, gen: Any, *words: Any, **more: Any) -> Any:
        """Do as psycopg does; raise OperationalError, with the connection closed, when the deadline has passed."""
        return super().wait(_limited(gen, lambda: self.ends_at, self._give_up), *words, **more)

    def commit(self) -> None:
        """Commit; leave some time, of a deadline, to look up what became of it."""
        with self.limit(max(self.ends_at - SETTLE, time.monotonic() + SETTLE)):
            super().commit()

    @contextmanager
    def limit(self, moment: float) -> Iterator[None]:
        """Wait until a moment at most, if that is before the deadline."""
        before = self.ends_at
        self.ends_at = min(before, moment)
        try:
            yield
        finally:
            self.ends_at = before

    def _give_up(self) -> None:
        self.close()
        raise OperationalError("the database did not answer in time; the connection was closed")


def _limited(gen: Any, until: Any, give_up: Any) -> Generator[Any, Any, Any]:
    """Run a generator of psycopg; call ``give_up``, which raises, when it has waited in vain after ``until()``.

    psycopg says every tenth of a second that nothing has come. Only then is the time looked at: statements that are
    answered at once cost nothing, and are not cut off, however many they are.
    """
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > until():
                gen.close()
                give_up()
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


def _refuse() -> None:
    raise ConnectionTimeout("connection timeout expired")


def tcp_options(given: Any) -> dict[str, int]:
    """Return the options of libpq that notice a dead network, but for those that are ``given`` in the URL."""
    return {name: value for name, value in TCP.items() if name not in given}


def listen(engine: Engine) -> None:
    """Make an engine keep the limits of its execution options and of requests, and its connections alive."""
    dialect: Any = engine.dialect
    dialect.connect = LimitedConnection.connect
    event.listen(engine, "begin", _begin)
    event.listen(engine, "connect", _note_use)
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", lambda driver, record, _: _check(engine.dialect, driver, record))
    event.listen(engine, "handle_error", _read_again)
    event.listen(engine, "handle_error", _leave_read_only)


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    wait = options.get("wait")
    limits = [] if wait is None else [f"lock_timeout = {max(1, int(wait * 1000))}"]  # 0 would mean no limit
    if not options.get("durable", True):
        limits.append("synchronous_commit = off")
    if limits:  # in one text, which is one round trip
        connection.exec_driver_sql("; ".join(f"SET LOCAL {limit}" for limit in limits))


def _read_again(context: Any) -> None:
    """Let pyramid_retry try a request again whose connection was lost while it read: nothing was changed."""
    connection, error = context.connection, context.sqlalchemy_exception
    reads = connection is not None and connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
    if context.is_disconnect and reads and error is not None and deadline.left() > SETTLE:
        pyramid_retry.mark_error_retryable(error)


def is_read_only(error: object) -> bool:
    """Whether a server refused to write because it is a standby, or was the leader until just now."""
    return isinstance(error, ReadOnlySqlTransaction)


def _leave_read_only(context: Any) -> None:
    """Throw away the connections to a server that only reads: the next ones may lead to the one that writes."""
    if is_read_only(context.original_exception):
        context.is_disconnect = True


def _has_news(socket: int) -> bool:
    """Whether something waits at a socket that nothing was asked of: the end of the connection, most likely."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


def _note_use(driver: Any, record: Any) -> None:
    if record is not None:  # of a connection that was given up
        record.info["used"] = time.monotonic()


def _check(dialect: Dialect, driver: LimitedConnection, record: Any) -> None:
    """Give a connection the deadline of who takes it, and see whether it lives."""
    driver.ends_at = deadline.current()
    with driver.limit(time.monotonic() + PING):
        _ping(dialect, driver, record)


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
        raise InvalidatePoolError from error  # the others are not better
