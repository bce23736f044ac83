"""The job that removes uploads which nobody imported within a day."""

from groundtransport.jobs import JobRun
from groundtransport.transfer.imports import store

CHUNK = 5  # uploads of one transaction; each may have 200,000 rows


def purge(run: JobRun) -> None:
    """Remove uploads that were made more than ``store.KEEP`` ago and not imported."""
    while True:
        with run.transaction() as dbsession:
            ids = store.outdated(dbsession, CHUNK)
            store.discard(dbsession, ids)
        if len(ids) < CHUNK:
            return
