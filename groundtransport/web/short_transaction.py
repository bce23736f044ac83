"""Transactions outside the request's own, and the time that is left for them.

They must not run inside the request's transaction: on SQLite, which has one writer at a time, that would deadlock.
"""

import time
from contextlib import AbstractContextManager

from sqlalchemy import Connection

from groundtransport.db import write_engine
from groundtransport.request import Request


def remaining_time(request: Request) -> float:
    """Return the seconds that the request may still wait for the database, at least 0.1."""
    return max(0.1, request.registry["settings"].request_budget - (time.monotonic() - request.began))


def short_transaction(request: Request) -> AbstractContextManager[Connection]:
    """Begin a writing transaction that waits for a lock no longer than the remaining time of the request."""
    return write_engine(request.registry["engine"], remaining_time(request)).begin()
