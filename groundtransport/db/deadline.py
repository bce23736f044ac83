"""Deadline of the current request. Waits for the database end at the deadline."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)  # a time of time.monotonic()


def current() -> float:
    """Return the deadline as a time of ``time.monotonic()``; infinity outside a request."""
    return _deadline.get()


def left() -> float:
    """Return the seconds until the deadline; negative after it."""
    return _deadline.get() - time.monotonic()


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Set the deadline of the block to ``moment``, a time of ``time.monotonic()``."""
    token = _deadline.set(moment)
    try:
        yield
    finally:
        _deadline.reset(token)


def extend(moment: float) -> None:
    """Move the deadline to ``moment``, if that is later, until the innermost ``until`` block ends."""
    _deadline.set(max(_deadline.get(), moment))


@contextmanager
def at_least(seconds: float) -> Iterator[None]:
    """Extend the deadline of the block if less than ``seconds`` are left."""
    with until(max(_deadline.get(), time.monotonic() + seconds)):
        yield
