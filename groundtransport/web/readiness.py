"""Readiness: whether this process can serve users now. ``/readyz`` reports it."""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from groundtransport.db import compatibility, deadline
from groundtransport.i18n import _
from groundtransport.request import Registry

log = logging.getLogger(__name__)

INTERVAL = 1  # seconds between two checks
CHECK_TIMEOUT = 4  # seconds a check may wait for the database
MAX_AGE = INTERVAL + CHECK_TIMEOUT + 1  # seconds; a check that takes longer is stuck


class Readiness(NamedTuple):
    """The result of a check. ``text`` is the body of ``/readyz``: the reason if ``is_ready`` is False."""

    text: str
    is_ready: bool = False


NO_ANSWER = Readiness(_("The database does not answer."))


def check_readiness(registry: Registry) -> Readiness:
    """Return whether the database is ready for this process. Raise SQLAlchemyError if it does not answer."""
    replica = registry["replica"]
    if replica is not None and replica.is_leader_away():
        reason = compatibility.why_incompatible(compatibility.state_of(replica.engine), registry["schema"])
        return Readiness(reason or "ready to read", is_ready=not reason)
    reason = registry["why_not_ready"]()
    return Readiness(reason or "ready", is_ready=not reason)


class ReadinessMonitor:
    """Answers health probes without a query, once it is started: a daemon thread checks every INTERVAL seconds.

    Under load a check waits for Python's lock after each statement, and while the database is stopped it waits until
    its time limit; a probe waits for neither.
    """

    def __init__(self, check: Callable[[], Readiness]) -> None:
        self._check = check
        self._result, self._checked_at = NO_ANSWER, time.monotonic()
        self._thread = threading.Thread(target=self._run, name="readiness", daemon=True)
        self._is_ended = threading.Event()

    def start(self) -> None:
        """Check once, then start the thread."""
        self._update()
        self._thread.start()

    def end(self) -> None:
        """Make no further check."""
        self._is_ended.set()

    def current(self) -> Readiness:
        """Return the last result, or NO_ANSWER if it is older than MAX_AGE seconds.

        If the thread was never started, check now; SQLAlchemyError is then raised if the database does not answer.
        """
        if self._thread.ident is None:
            return self._check()
        return self._result if time.monotonic() - self._checked_at < MAX_AGE else NO_ANSWER

    def _run(self) -> None:
        while not self._is_ended.wait(INTERVAL):
            self._update()

    def _update(self) -> None:
        try:
            with deadline.until(time.monotonic() + CHECK_TIMEOUT):
                self._result = self._check()
        except SQLAlchemyError:
            if self._result is not NO_ANSWER:
                log.warning("the check of readiness had no answer from the database", exc_info=True)
            self._result = NO_ANSWER
        self._checked_at = time.monotonic()
