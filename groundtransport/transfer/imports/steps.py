"""Begin the steps of an import: set its state and add the job, in the transaction of a session."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from groundtransport.db import now
from groundtransport.events import Actor
from groundtransport.jobs import queue
from groundtransport.jobs.models import Job
from groundtransport.transfer.imports import names, store
from groundtransport.transfer.imports.models import ImportBatch, ImportState

UNDOABLE = (ImportState.DONE, ImportState.COMMITTING)
JOBS = {
    ImportState.READING: names.READ,
    ImportState.PREVIEWING: names.PREVIEW,
    ImportState.COMMITTING: names.COMMIT,
    ImportState.UNDOING: names.UNDO,
}


def begin(
    dbsession: Session, batch: ImportBatch, state: ImportState, parameters: Mapping[str, object] | None = None
) -> None:
    """Set the state of an import, and add the job of the step."""
    given = {**(parameters or {}), "import_id": batch.id}
    batch.state, batch.problem = state, None
    name = names.EDIT if batch.is_edit and state == ImportState.COMMITTING else JOBS[state]
    batch.job_id = queue.add(dbsession, name, given, created_by=batch.actor)


def resume(dbsession: Session, batch: ImportBatch) -> None:
    """Add the job of the current step again; it goes on from the stored position."""
    job = job_of(dbsession, batch)
    begin(dbsession, batch, ImportState(batch.state), job.parameters if job else None)


def begin_undo(dbsession: Session, batch: ImportBatch, actor: Actor) -> None:
    """Let a job take an import back, in the name of ``actor``."""
    batch.undo_batch, batch.undone_by = store.new_batch_name().replace("import", "undo"), actor.name
    batch.finished_at = batch.finished_at or now()
    store.remove_file(dbsession, batch.id)
    who = {"name": actor.name, "user_id": actor.user_id, "client_ip": actor.client_ip, "request_id": actor.request_id}
    begin(dbsession, batch, ImportState.UNDOING, {"actor": who})


def job_of(dbsession: Session, batch: ImportBatch) -> Job | None:
    """Return the job of the current or last step; None once it is purged."""
    return dbsession.get(Job, batch.job_id) if batch.job_id else None


def is_active(dbsession: Session, batch: ImportBatch) -> bool:
    """Return True if the job of the current step waits or runs."""
    job = job_of(dbsession, batch)
    return bool(job and job.is_active)
