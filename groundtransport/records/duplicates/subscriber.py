"""Subscriber that keeps the pairs of possible doubles: it collects the changes of a transaction, and stores them
together before the commit, so that an import makes a few statements for thousands of records.
"""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from groundtransport.db import limit_lock_wait, transaction_data
from groundtransport.events import Change as Event
from groundtransport.events import RecordCreated, RecordDeleted, RecordPurged, RecordRestored, RecordUpdated
from groundtransport.records.duplicates import statements
from groundtransport.records.duplicates.pairs import Change, PairKeeper
from groundtransport.records.kind import Kind

QUEUE = "duplicates"
WATCHED = (RecordCreated, RecordUpdated, RecordDeleted, RecordRestored, RecordPurged)  # a verification changes no field


class PairSubscriber:
    """Subscriber to Change. ``kinds`` are the kinds by name.

    The base class of all events is subscribed to, because its subscribers are called in the order in which they were
    added: this one before the audit log, which locks the head of its chain as the last row of a transaction.
    """

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds

    def __call__(self, event: Event) -> None:
        """Note the values of a record before and after a change."""
        if not isinstance(event, WATCHED):
            return
        session = event.dbsession
        queue = transaction_data(session).setdefault(QUEUE, {})
        if not queue:
            session.info["tm"].get().addBeforeCommitHook(self.write, (session,))
        of_kind = queue.setdefault(event.kind, {})
        if isinstance(event, RecordPurged):  # its keys were removed when it was deleted
            of_kind[event.record_id] = None
        else:
            earlier = of_kind.get(event.record_id)
            after = {} if isinstance(event, RecordDeleted) else event.after
            of_kind[event.record_id] = Change(earlier.before if earlier else event.before, after)

    def write(self, session: Session) -> None:
        """Store what the transaction changed."""
        queue = transaction_data(session).pop(QUEUE)
        limit_lock_wait(session)
        for name, changes in queue.items():
            purged = [number for number, change in changes.items() if change is None]
            if purged:
                statements.drop_pairs(session, name, purged)
            PairKeeper(session, self.kinds[name]).apply({key: change for key, change in changes.items() if change})
