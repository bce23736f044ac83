"""A psycopg connection that stops waiting at the deadline of the request."""

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Self

from psycopg import Connection, OperationalError
from psycopg.errors import ConnectionTimeout

from groundtransport.db import deadline

CONNECT = 2  # seconds for connecting to one host
SETTLE = 1  # seconds reserved before the deadline for looking up the outcome of a COMMIT that was not answered


class LimitedConnection(Connection[Any]):
    """A connection that waits for its server until ``ends_at`` and is closed then.

    The server's own time limits do not help when the server or the network is silent; TCP's do not help when a device
    on the way acknowledges packets that it does not forward.
    """

    ends_at = math.inf  # a time of time.monotonic()

    @classmethod
    def _connect_gen(cls, *args: Any, **kwargs: Any) -> Generator[Any, Any, Self]:
        until = min(deadline.current(), time.monotonic() + CONNECT)
        connection: Self = yield from _limited(super()._connect_gen(*args, **kwargs), lambda: until, _connect_timeout)
        connection.ends_at = deadline.current()
        return connection

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """Wait as psycopg does; at the deadline, close the connection and raise OperationalError."""
        return super().wait(_limited(gen, lambda: self.ends_at, self._give_up), *args, **kwargs)

    def commit(self) -> None:
        """Commit; stop waiting SETTLE seconds before the deadline, so that the outcome can be looked up."""
        with self.limit(max(self.ends_at - SETTLE, time.monotonic() + SETTLE)):
            super().commit()

    @contextmanager
    def limit(self, moment: float) -> Iterator[None]:
        """Stop waiting at ``moment``, a time of ``time.monotonic()``, if it is before the deadline."""
        before = self.ends_at
        self.ends_at = min(before, moment)
        try:
            yield
        finally:
            self.ends_at = before

    def _give_up(self) -> NoReturn:
        self.close()
        raise OperationalError("the database did not answer in time; the connection was closed")


def _limited(gen: Any, until: Callable[[], float], give_up: Callable[[], NoReturn]) -> Generator[Any, Any, Any]:
    """Run a generator of psycopg; call ``give_up`` if it waits longer than ``until()``.

    psycopg resumes a waiting generator every 0.1 s with 0. Only then is the time compared, so statements that are
    answered at once cost nothing and are not interrupted.
    """
    try:
        wait_for = next(gen)
        while True:
            ready = yield wait_for
            if not ready and time.monotonic() > until():
                gen.close()
                give_up()
            wait_for = gen.send(ready)
    except StopIteration as end:
        return end.value


def _connect_timeout() -> NoReturn:
    raise ConnectionTimeout("connection timeout expired")
