"""For who tells the world: subscribers that hear of a change once it is committed, and never of one that was undone.

What they do can undo nothing: each is called by itself, and what it raises goes to the process log, not to the user.
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
    """Listens inside the transaction, and calls ``subscriber`` after it; nothing is kept from one to the next."""

    def __init__(self, subscriber: Subscriber) -> None:
        self.subscriber = subscriber

    def __call__(self, event: RecordChanged) -> None:
        event.dbsession.info["tm"].get().addAfterCommitHook(self.tell, (event,))

    def tell(self, committed: bool, event: RecordChanged) -> None:  # noqa: FBT001  # the hook's form
        """Call the subscriber with the event, unless the commit failed; log what it raises."""
        if not committed:
            return
        # The session has ended: what is written to it now would be lost without a word.
        past: Any = {"dbsession": None}
        try:
            self.subscriber(replace(event, **past))
        except Exception:
            name = getattr(self.subscriber, "__qualname__", repr(self.subscriber))
            log.exception("%s failed after the commit of %s %s %s", name, event.action, event.kind, event.record_id)


def add_after_commit_subscriber(
    config: Configurator, subscriber: Subscriber | str, event_class: type[RecordChanged] | str = RecordChanged
) -> None:
    """Call ``subscriber`` with every committed event of a class; either may be a dotted name."""
    config.add_subscriber(AfterCommit(config.maybe_dotted(subscriber)), config.maybe_dotted(event_class))


def includeme(config: Configurator) -> None:
    config.add_directive("add_after_commit_subscriber", add_after_commit_subscriber)
