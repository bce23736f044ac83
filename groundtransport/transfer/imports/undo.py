"""The job that takes an import back, entry by entry of the activity log, in chunks.

Created records are deleted, changed ones get their old values. What somebody changed since is kept and listed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.db import AnyRow, now
from groundtransport.events import NOTES, RecordCreated, RecordUpdated, RecordVerified
from groundtransport.jobs import JobRun
from groundtransport.json_types import Json
from groundtransport.records import verification
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.records.writer import Writer
from groundtransport.transfer.imports import store
from groundtransport.transfer.imports.commit import actor_of
from groundtransport.transfer.imports.models import LABEL_MAX, ImportBatch, ImportState, KeptReason
from groundtransport.transfer.imports.pace import Pace

CHUNK = 100  # entries of the first transaction; see pace.py
DELETED, REVERTED, KEPT = "deleted", "reverted", "kept"
ACTIONS = (RecordCreated.action, RecordUpdated.action, RecordVerified.action)


def undo(run: JobRun) -> None:
    """Take the import back from the stored position on."""
    import_id = run.parameters["import_id"]
    with run.transaction() as dbsession:
        results = store.locked(dbsession, import_id).results
        run.done = sum(results.get(name, 0) for name in (DELETED, REVERTED, KEPT))
        run.total = results.get("created", 0) + results.get("updated", 0)
    pace = Pace(CHUNK)
    while undo_chunk(run, import_id, pace):
        pass


def undo_chunk(run: JobRun, import_id: int, pace: Pace) -> bool:
    """Take the next entries back and store the position, in one transaction; return False after the last one."""
    with pace.measure() as most, run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        kind = run.registry["kinds"][batch.kind]
        entries = entries_of(dbsession, batch, most)
        if not entries:
            batch.state, batch.undone_at = ImportState.UNDONE, now()
            return False
        actor = replace(actor_of(batch), **run.parameters["actor"], batch=batch.undo_batch or "")
        reverter = Reverter(dbsession, Writer(dbsession, run.registry.notify, kind, actor), batch.batch)
        reverter.revert(entries)
        store.keep(dbsession, import_id, reverter.kept)
        batch.undo_position = entries[-1].id
        batch.results = dict(Counter(batch.results) + reverter.results)
        run.done += len(entries)
    return True


def entries_of(dbsession: Session, batch: ImportBatch, most: int) -> Sequence[AnyRow]:
    """Return the next entries of an import in the activity log, oldest first."""
    log = AdminActivity
    own = (log.batch == batch.batch, log.kind == batch.kind, log.action.in_(ACTIONS), log.id > batch.undo_position)
    columns = (log.id, log.record_id, log.action, log.label, log.changes)
    return dbsession.execute(select(*columns).where(*own).order_by(log.id).limit(most)).all()


class Reverter:
    """Takes entries of the activity log back. ``kept`` holds the records that it leaves alone, as ``store.keep``."""

    def __init__(self, dbsession: Session, writer: Writer, batch: str) -> None:
        self.dbsession, self.writer, self.kind, self.batch = dbsession, writer, writer.kind, batch
        self.results: Counter[str] = Counter()
        self.kept: list[tuple[int, str, str, Json]] = []

    def revert(self, entries: Sequence[AnyRow]) -> None:
        """Take entries back."""
        later = self._later_entries(entries)
        records = self._records([entry.record_id for entry in entries])
        taken = taken_sources(self.dbsession, self.kind, entries)
        for entry in entries:
            record = records.get(entry.record_id)
            if record is None or record.is_deleted:
                self._keep(entry, KeptReason.DELETED)
            elif self._is_changed(entry, record, later[entry.record_id]):
                self._keep(entry, KeptReason.CHANGED)
            elif taken.get(old_source(entry, record), record.id) != record.id:
                self._keep(entry, KeptReason.CLASH)
            else:
                self._revert(entry, record)

    def _revert(self, entry: AnyRow, record: RecordColumns) -> None:
        if entry.action == RecordCreated.action:
            self.writer.delete(record)
            self.results[DELETED] += 1
        else:
            self.writer.revert(record, entry.changes)
            self.results[REVERTED] += 1

    def _keep(self, entry: AnyRow, reason: KeptReason) -> None:
        self.kept.append((entry.record_id, entry.label[:LABEL_MAX], reason, None))
        self.results[KEPT] += 1

    def _records(self, ids: Iterable[int]) -> Mapping[int, Any]:
        """Return records by their ids, locked."""
        model = self.kind.model
        query = select(model).where(model.id.in_(ids)).order_by(model.id).with_for_update()
        return {record.id: record for record in self.dbsession.scalars(query)}

    def _is_changed(self, entry: AnyRow, record: RecordColumns, later: Sequence[AnyRow]) -> bool:
        """Return True if entries after ``entry`` changed the record's values, and nothing has set them back.

        A second import and its undo are no change, and a verification is none of an updated record.
        """
        is_verification = entry.action == RecordVerified.action
        if entry.action != RecordCreated.action:
            later = [one for one in later if (one.action == RecordVerified.action) == is_verification]
        if any(one.action not in (RecordUpdated.action, RecordVerified.action) for one in later):
            return True
        before: dict[str, Json] = {}
        for one in later:
            for name, pair in one.changes.items():
                before.setdefault(name, pair["old"])
        values = {**self.writer.values(record), **verification.of(record)}
        return any(values.get(name) != old for name, old in before.items())

    def _later_entries(self, entries: Sequence[AnyRow]) -> Mapping[int, Sequence[AnyRow]]:
        """Return the entries of other batches, and of none, about the same records after them, notes apart."""
        log = AdminActivity
        about = (log.kind == self.kind.name, log.record_id.in_([entry.record_id for entry in entries]))
        others = (log.id > entries[0].id, log.batch.is_distinct_from(self.batch), log.action.not_in(NOTES))
        query = select(log.id, log.record_id, log.action, log.changes).where(*about, *others).order_by(log.id)
        result = defaultdict[int, list[AnyRow]](list)
        for row in self.dbsession.execute(query):
            result[row.record_id].append(row)
        return result


def old_source(entry: AnyRow, record: RecordColumns) -> tuple[str, str] | None:
    """Return the source and source id that a record had before an update, if it gets them back; else None."""
    if entry.action == RecordCreated.action or not {"source", "source_id"} & set(entry.changes):
        return None
    pairs = [entry.changes.get(name, {"old": getattr(record, name)})["old"] for name in ("source", "source_id")]
    return (pairs[0], pairs[1]) if all(pairs) else None


def taken_sources(dbsession: Session, kind: Kind, entries: Sequence[AnyRow]) -> Mapping[Any, int]:
    """Return the live records that have a source id which one of the entries gives back, by source and source id."""
    model = kind.model
    ids = {pair["old"] for entry in entries if (pair := entry.changes.get("source_id")) and pair["old"]}
    if not ids:
        return {}
    query = select(model.source, model.source_id, model.id).where(model.is_live(), model.source_id.in_(ids))
    return {(row[0], row[1]): row[2] for row in dbsession.execute(query)}
