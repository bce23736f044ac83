"""Store an import of the command line among all imports: it is listed, can be resumed, and can be undone."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.db import now
from groundtransport.events import Actor
from groundtransport.records.kind import Kind
from groundtransport.request import Registry
from groundtransport.transfer.imports import files, store
from groundtransport.transfer.imports.models import FILENAME_MAX, ImportBatch, ImportState
from groundtransport.transfer.plan_types import Counts, ImportOptions, Outcome, PlannedRow
from groundtransport.transfer.reading.source_file import SourceFile
from groundtransport.transfer.row_writer import RowWriter, log_head, others_places

DOUBTFUL = "doubtful"


def begin(engine: Engine, kind: Kind, actor: Actor, file: SourceFile, options: ImportOptions) -> ImportBatch:
    """Store the import of a file whose rows are about to be planned and written; return it, detached."""
    batch = ImportBatch(
        batch=actor.batch,
        kind=kind.name,
        actor=actor.name,
        filename=file.filename[-FILENAME_MAX:],
        digest=digest_of(file.path),
        size=file.path.stat().st_size,
        state=ImportState.COMMITTING,
        source=files.to_json(file),
        options=options.to_json(),
    )
    with db.transaction(engine) as dbsession:
        batch.undo_position = log_head(dbsession)
        store.add(dbsession, batch)
        return _detached(dbsession, batch)


def interrupted(engine: Engine, kind: Kind, path: Path) -> ImportBatch:
    """Return the import of a file that was interrupted, detached. Raise ClickException if there is none."""
    with db.transaction(engine) as dbsession:
        batch = store.interrupted(dbsession, kind.name, digest_of(path))
        if batch is None:
            raise click.ClickException("No import of this file into this kind was interrupted.")
        return _detached(dbsession, batch)


def _detached(dbsession: Session, batch: ImportBatch) -> ImportBatch:
    dbsession.refresh(batch)
    dbsession.expunge(batch)
    return batch


def digest_of(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class BatchWriter:
    """Writes chunks of planned rows, each in a transaction with its counts, its bad rows and the position."""

    def __init__(self, registry: Registry, kind: Kind, batch: ImportBatch, options: ImportOptions) -> None:
        self.registry, self.kind, self.import_id = registry, kind, batch.id
        self.actor = Actor(batch.actor, batch=batch.batch)
        self.others = others_places(kind, options.match, batch.batch, batch.undo_position)
        self.engine = db.bulk_engine(registry["engine"])

    def write(self, rows: Sequence[PlannedRow], counts: Counts) -> list[PlannedRow]:
        """Write the new and changed rows; return all, conflicts as refused. ``counts`` are those up to here.

        Raise ClickException if somebody has ended the import meanwhile.
        """
        with db.transaction(self.engine) as dbsession:
            batch = store.locked(dbsession, self.import_id)
            if batch.state != ImportState.COMMITTING:
                raise click.ClickException(f"Somebody has ended import {batch.id}: it is {batch.state}.")
            writer = RowWriter(dbsession, self.registry.notify, self.kind, self.actor, self.others)
            written = writer.write([row for row in rows if row.outcome in store.WRITES])
            bad = [row for row in rows if row.outcome in store.BAD or row.line in written.conflicts]
            store.add_rows(dbsession, batch.id, bad, written.conflicts)
            done = [_written(row, written.conflicts) for row in rows]
            batch.position = rows[-1].line
            batch.counts = counts_to_json(counts.plus_all(done))
            batch.results = dict(Counter(batch.results) + written.results)
        return done

    def end(self) -> None:
        """Store that the import is done."""
        with db.transaction(self.registry["engine"]) as dbsession:
            batch = store.locked(dbsession, self.import_id)
            batch.state, batch.finished_at = ImportState.DONE, now()


def _written(row: PlannedRow, conflicts: Sequence[int]) -> PlannedRow:
    return replace(row, outcome=Outcome.REFUSED) if row.line in conflicts else row


def counts_to_json(counts: Counts) -> dict[str, int]:
    """Return the counts as the table of imports holds them."""
    numbers = {outcome.value: number for outcome, number in counts.outcomes.items()}
    return {name: number for name, number in {**numbers, DOUBTFUL: counts.doubtful}.items() if number}


def counts_from_json(data: dict[str, int]) -> Counts:
    """Return the counts that ``counts_to_json`` made."""
    return Counts({outcome: data.get(outcome, 0) for outcome in Outcome}, doubtful=data.get(DOUBTFUL, 0))
