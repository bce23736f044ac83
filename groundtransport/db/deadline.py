"""The deadline of the request that this thread works on: who waits for the database waits no longer."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_moment: ContextVar[float] = ContextVar("deadline", default=math.inf)  # of time.monotonic()


def current() -> float:
    """Return the deadline as a moment of ``time.monotonic()``; infinite outside of a request."""
    return _moment.get()


def left() -> float:
    """Return the seconds until the deadline; negative after it."""
    return _moment.get() - time.monotonic()


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Set the deadline, a moment of ``time.monotonic()``, for the work inside."""
    token = _moment.set(moment)
    try:
        yield
    finally:
        _moment.reset(token)


@contextmanager
def at_least(seconds: float) -> Iterator[None]:
    """Give the work inside so many seconds, if less is left."""
    with until(max(_moment.get(), time.monotonic() + seconds)):
        yield
