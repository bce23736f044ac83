"""Transactions outside the request's own, and the time that is left for them.

They must not run inside the request's transaction: on SQLite, which has one writer at a time, that would deadlock.
"""

import time
from contextlib import AbstractContextManager

from pyramid.request import Request
from sqlalchemy import Connection

from groundtransport.db import BUDGET, write_engine


def remaining_time(request: Request) -> float:
    """Return the seconds of ``BUDGET`` that are left of the request, at least 0.1."""
    return max(0.1, BUDGET - (time.monotonic() - request.began))


def short_transaction(request: Request) -> AbstractContextManager[Connection]:
    """Begin a writing transaction that waits for a lock no longer than the remaining time of the request."""
    return write_engine(request.registry["engine"], remaining_time(request)).begin()
