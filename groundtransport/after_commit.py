"""Run subscribers after commit, for side effects outside the database.

They are not called for a change that is rolled back. An exception in one of them is logged; it affects neither the
other subscribers nor the response.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyramid.config import Configurator

from groundtransport.events import RecordChanged

log = logging.getLogger(__name__)

Subscriber = Callable[[RecordChanged], object]


class AfterCommit:
    """Event subscriber that calls ``subscriber`` with the event after the commit."""

    def __init__(self, subscriber: Subscriber) -> None:
        self.subscriber = subscriber

    def __call__(self, event: RecordChanged) -> None:
        event.dbsession.info["tm"].get().addAfterCommitHook(self.notify, (event,))

    def notify(self, committed: bool, event: RecordChanged) -> None:  # noqa: FBT001  # signature of the hook
        """Call the subscriber with the event unless the commit failed; log an exception that it raises."""
        if not committed:
            return
        # The transaction has ended: writes to the session would be lost silently.
        changes: Any = {"dbsession": None}
        try:
            self.subscriber(replace(event, **changes))
        except Exception:
            name = getattr(self.subscriber, "__qualname__", repr(self.subscriber))
            log.exception("%s failed after the commit of %s %s %s", name, event.action, event.kind, event.record_id)


def add_after_commit_subscriber(
    config: Configurator, subscriber: Subscriber | str, event_class: type[RecordChanged] | str = RecordChanged
) -> None:
    """Call ``subscriber`` with each event of ``event_class`` after commit; both may be dotted names."""
    config.add_subscriber(AfterCommit(config.maybe_dotted(subscriber)), config.maybe_dotted(event_class))


def includeme(config: Configurator) -> None:
    config.add_directive("add_after_commit_subscriber", add_after_commit_subscriber)
