"""The job that writes the planned rows: in chunks, each with the position it reached, or all in one transaction.

A record that was changed since the preview is not overwritten, and one that was created since is not created again:
the row becomes a conflict.
"""

import logging
from collections import Counter
from collections.abc import Sequence

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from groundtransport.db import now
from groundtransport.events import Actor
from groundtransport.indexes import build, spec_of
from groundtransport.jobs import JobRun
from groundtransport.records.kind import Kind
from groundtransport.transfer.imports import store
from groundtransport.transfer.imports.models import ImportBatch, ImportState
from groundtransport.transfer.imports.pace import Pace
from groundtransport.transfer.plan_types import Match, PlannedRow
from groundtransport.transfer.row_writer import CONFLICT, OthersPlaces, RowWriter, others_places

log = logging.getLogger(__name__)

CHUNK = 250  # rows of the first transaction; see pace.py
ALL_MAX = 10_000  # rows that can be imported all or nothing


class Conflicts(Exception):
    """Of an import that is all or nothing: records were changed since the preview. ``lines`` are their rows'."""

    def __init__(self, lines: Sequence[int]) -> None:
        super().__init__(f"{len(lines)} conflicts")
        self.lines = lines


def commit(run: JobRun) -> None:
    """Write the planned rows from the stored position on."""
    import_id = run.parameters["import_id"]
    with run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        is_whole, kind = batch.all_or_nothing, run.registry["kinds"][batch.kind]
        others = others_places(kind, Match((batch.options or {})["match"]), batch.batch, batch.undo_position)
        run.done, run.total = sum(batch.results.values()), sum(batch.counts.get(key, 0) for key in store.WRITES)
    if is_whole:
        commit_whole(run, import_id, others)
    else:
        pace = Pace(CHUNK)
        while commit_chunk(run, import_id, pace, others):
            pass
    tidy(run, kind)


def commit_chunk(run: JobRun, import_id: int, pace: Pace, others: OthersPlaces | None) -> bool:
    """Write the next chunk and its position in one transaction; return False after the last one."""
    with pace.measure() as most, run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        rows = store.rows_to_write(dbsession, import_id, batch.position, most)
        if not rows:
            finish(dbsession, batch)
            return False
        write_rows(run, dbsession, batch, rows, others)
    return True


def write_rows(
    run: JobRun, dbsession: Session, batch: ImportBatch, rows: Sequence[PlannedRow], others: OthersPlaces | None
) -> list[int]:
    """Write rows; store the position and the results. Return the lines of the conflicts."""
    kind = run.registry["kinds"][batch.kind]
    written = RowWriter(dbsession, run.registry.notify, kind, actor_of(batch), others).write(rows)
    store.note_written(dbsession, batch.id, rows[0].line, rows[-1].line, written.conflicts)
    batch.position = rows[-1].line
    batch.results = dict(Counter(batch.results) + written.results)
    run.done += len(rows)
    return written.conflicts


def commit_whole(run: JobRun, import_id: int, others: OthersPlaces | None) -> None:
    """Write all rows in one transaction. If there is a conflict, write none and store the conflicts."""
    try:
        with run.transaction() as dbsession:
            batch = store.locked(dbsession, import_id)
            if batch.state == ImportState.COMMITTING:
                write_all(run, dbsession, batch, others)
    except Conflicts as found:
        with run.transaction() as dbsession:
            batch = store.locked(dbsession, import_id)
            store.note_written(dbsession, import_id, min(found.lines), min(found.lines) - 1, found.lines)
            batch.results, batch.position = {CONFLICT: len(found.lines)}, 0
            finish(dbsession, batch, ImportState.REFUSED)


def write_all(run: JobRun, dbsession: Session, batch: ImportBatch, others: OthersPlaces | None) -> None:
    """Write all rows in the transaction of ``dbsession``. Raise Conflicts if there are any."""
    conflicts: list[int] = []
    while rows := store.rows_to_write(dbsession, batch.id, batch.position, CHUNK):
        conflicts += write_rows(run, dbsession, batch, rows, others)
    if conflicts:
        raise Conflicts(conflicts)
    finish(dbsession, batch)


def finish(dbsession: Session, batch: ImportBatch, state: ImportState = ImportState.DONE) -> None:
    """Store the end of an import, and remove its file."""
    batch.state, batch.finished_at = state, now()
    store.remove_file(dbsession, batch.id)


def actor_of(batch: ImportBatch, name: str = "") -> Actor:
    """Return the actor of an import's changes; of its undo, with the name of the undo's batch."""
    return Actor(batch.actor, batch.user_id, client_ip=batch.address, batch=name or batch.batch)


def tidy(run: JobRun, kind: Kind) -> None:
    """Update the database's statistics for new records. A failure is only logged: the records are committed."""
    spec = spec_of(kind.model.__table__)
    if spec and run.done:
        try:
            build.tidy(run.engine, spec, run.done, log.info)
        except DBAPIError as error:
            log.warning("the statistics of the database were not updated: %s", error.orig)
