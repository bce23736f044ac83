"""Requests of the feed of changes that wait for a change hold a connection, and neither a thread nor the database.

``GET /api/v1/changes?after=N&wait=S`` is held back before it is executed. One thread looks at the number of the last
entry while any request waits, and passes a request on when there is a change behind ``after`` or its time is over.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError
from waitress.channel import HTTPChannel

from groundtransport.api.feed import PATH, WAIT_MAX
from groundtransport.audit.models import AuditHead
from groundtransport.db import autocommit_engine
from groundtransport.text import parse_number

log = logging.getLogger(__name__)

INTERVAL = 0.5  # seconds between two looks at the database
WAITING_MAX = 500  # requests; further ones are answered at once


@dataclass(frozen=True, eq=False)
class Waiting:
    """A connection whose oldest request waits for an entry behind ``after``, until a time of ``time.monotonic()``."""

    channel: Any
    after: int
    until: float

    def is_over(self, head: int) -> bool:
        """Return True if the request need not wait: there is a newer entry, its time is over, or its client is gone."""
        return self.after < head or self.until <= time.monotonic() or self.channel.check_client_disconnected()


def waiting_of(channel: HTTPChannel) -> Waiting | None:
    """Return the oldest request of a connection as one that waits; None if it is executed at once.

    Only a GET of the feed of changes waits, with a token, a valid ``after`` (an entry) and ``wait`` (seconds up to
    WAIT_MAX). The token is not verified yet."""
    request = channel.requests[0]
    if getattr(request, "path", "") != PATH or request.command != "GET" or "AUTHORIZATION" not in request.headers:
        return None
    query = parse_qs(request.query or "", max_num_fields=10) if (request.query or "").count("&") < 10 else {}
    after, wait = (_number(query.get(name, [])) for name in ("after", "wait"))
    if after is None or wait is None or not 0 < wait <= WAIT_MAX:
        return None  # the view answers, with an error or at once
    return Waiting(channel, after, request.arrived + wait)


def _number(values: list[str]) -> int | None:
    return parse_number(values[0]) if len(values) == 1 else None


class WaitingDispatcher:
    """Task dispatcher that holds waiting requests back; the others, and these in the end, go to ``inner``."""

    def __init__(self, inner: Any, read_head: Callable[[], int]) -> None:
        self.inner, self.read_head = inner, read_head
        self._waiting: list[Waiting] = []
        self._changed = threading.Condition()
        self._is_ending = False
        threading.Thread(target=self._watch, name="waiting requests", daemon=True).start()

    def add_task(self, channel: HTTPChannel) -> None:
        """Queue the oldest request of a connection, now or later."""
        waiting = waiting_of(channel)
        with self._changed:
            is_held = waiting is not None and not self._is_ending and len(self._waiting) < WAITING_MAX
            if waiting and is_held:
                self._waiting.append(waiting)
                self._changed.notify()
        if not is_held:
            self.inner.add_task(channel)

    def release(self) -> None:
        """Pass all waiting requests on, and hold none back from now on: the server is about to end."""
        with self._changed:
            self._is_ending = True
            self._changed.notify()

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> Any:  # noqa: FBT001, FBT002  # waitress'
        """Stop the threads of the inner dispatcher."""
        self.release()
        return self.inner.shutdown(cancel_pending, timeout)

    def _watch(self) -> None:
        """Pass requests on as their waiting ends."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_ending)
            head = self._head()
            with self._changed:
                finished = [
                    waiting for waiting in self._waiting if self._is_ending or head is None or waiting.is_over(head)
                ]
                self._waiting = [waiting for waiting in self._waiting if waiting not in finished]
            for waiting in finished:
                waiting.channel.requests[0].arrived = time.monotonic()  # it did not wait for a thread
                self.inner.add_task(waiting.channel)
            if self._is_ending:
                return
            time.sleep(INTERVAL)

    def _head(self) -> int | None:
        """Return the number of the last entry; None if the database does not answer, as the view will say."""
        try:
            return self.read_head()
        except SQLAlchemyError:
            log.warning("waiting requests are passed on: the database does not answer", exc_info=True)
            return None


def head_reader(engine: Engine) -> Callable[[], int]:
    """Return a function that reads the number of the last entry of the activity log, by one statement."""
    query = select(AuditHead.number).where(AuditHead.id == 1)

    def read() -> int:
        with autocommit_engine(engine).connect() as connection:
            return connection.scalar(query) or 0

    return read
