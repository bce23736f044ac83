"""Read and write the tables of imports. Nothing here knows records.

Every function works in the transaction of the session that it gets, unless it says otherwise.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import IO

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from groundtransport.db import now, table_of
from groundtransport.json_types import Json
from groundtransport.transfer.imports.models import ImportBatch, ImportKept, ImportPart, ImportRow, ImportState
from groundtransport.transfer.plan_json import readable
from groundtransport.transfer.plan_types import Outcome, PlannedRow
from groundtransport.transfer.row_writer import CONFLICT

PART = 256 * 1024  # bytes
KEEP = timedelta(days=1)  # how long an upload stays that is not imported
WRITES = (Outcome.NEW, Outcome.CHANGED)  # the outcomes that are written
BAD = (Outcome.REFUSED, Outcome.DOUBLE, CONFLICT)  # the outcomes that people put right
UNFINISHED = (
    *(ImportState.READING, ImportState.UNREADABLE, ImportState.COLUMNS),
    *(ImportState.PREVIEWING, ImportState.PREVIEW),
)


def new_batch_name() -> str:
    """Return a name for the activity log."""
    return f"import-{secrets.token_hex(8)}"


def find(dbsession: Session, import_id: int, *, lock: bool = False) -> ImportBatch | None:
    """Return an import; with ``lock``, nobody else can change it until the end of the transaction."""
    query = select(ImportBatch).where(ImportBatch.id == import_id)
    return dbsession.scalar(query.with_for_update() if lock else query)


def locked(dbsession: Session, import_id: int) -> ImportBatch:
    """Return an import that exists, locked. Raise LookupError if it was discarded."""
    batch = find(dbsession, import_id, lock=True)
    if batch is None:
        raise LookupError(f"import {import_id} was discarded")
    return batch


def same_upload(dbsession: Session, batch: ImportBatch) -> ImportBatch | None:
    """Return the import that the same form has already made of the same file; None without the form's token."""
    if batch.form_token is None:
        return None
    same = (ImportBatch.user_id == batch.user_id, ImportBatch.form_token == batch.form_token)
    return dbsession.scalar(select(ImportBatch).where(*same, ImportBatch.digest == batch.digest))


def earlier_import(dbsession: Session, batch: ImportBatch) -> ImportBatch | None:
    """Return the last import of the same file into the same kind that was committed."""
    same = (ImportBatch.digest == batch.digest, ImportBatch.kind == batch.kind, ImportBatch.id != batch.id)
    query = select(ImportBatch).where(*same, ImportBatch.state == ImportState.DONE)
    return dbsession.scalar(query.order_by(ImportBatch.id.desc()).limit(1))


def remembered_options(dbsession: Session, batch: ImportBatch) -> object:
    """Return the options of the last file of this person and kind with the same header; None if there is none."""
    same = (ImportBatch.header_digest == batch.header_digest, ImportBatch.kind == batch.kind)
    own = (ImportBatch.actor == batch.actor, ImportBatch.id != batch.id, ImportBatch.options.is_not(None))
    query = select(ImportBatch.options).where(*same, *own)
    return dbsession.scalar(query.order_by(ImportBatch.id.desc()).limit(1))


def interrupted(dbsession: Session, kind: str, digest: str) -> ImportBatch | None:
    """Return the last import of a file into a kind that has begun to write records and is not done."""
    same = (ImportBatch.digest == digest, ImportBatch.kind == kind, ImportBatch.state == ImportState.COMMITTING)
    return dbsession.scalar(select(ImportBatch).where(*same).order_by(ImportBatch.id.desc()).limit(1))


def of_batch(dbsession: Session, name: str) -> int | None:
    """Return the id of the import whose changes, or whose undo, have this name in the activity log."""
    own = or_(ImportBatch.batch == name, ImportBatch.undo_batch == name)
    return dbsession.scalar(select(ImportBatch.id).where(own).limit(1))


def page(dbsession: Session, conditions: Iterable[ColumnElement[bool]], start: int, length: int) -> list[ImportBatch]:
    """Return imports, newest first."""
    query = select(ImportBatch).where(*conditions).order_by(ImportBatch.id.desc())
    return list(dbsession.scalars(query.offset(start).limit(length)))


def count(dbsession: Session, conditions: Iterable[ColumnElement[bool]]) -> int:
    """Return the number of imports."""
    return dbsession.scalar(select(func.count()).select_from(ImportBatch).where(*conditions)) or 0


def add_once(dbsession: Session, batch: ImportBatch) -> ImportBatch:
    """Store a new import and return it; return the one that the same form has already made, if there is one."""
    same = same_upload(dbsession, batch)
    if same is None:
        try:
            add(dbsession, batch)
        except IntegrityError:  # of two equal requests at once, the second comes here
            same = same_upload(dbsession, batch)
    return same or batch


def add(dbsession: Session, batch: ImportBatch) -> None:
    """Store a new import. Raise IntegrityError if the same form made it at the same time."""
    with dbsession.begin_nested():
        dbsession.add(batch)


# The file


def save_file(dbsession: Session, import_id: int, blocks: Iterable[bytes]) -> None:
    """Store the parts of a file."""
    for number, content in enumerate(blocks):
        dbsession.execute(insert(ImportPart).values(import_id=import_id, number=number, content=content))


def write_file(dbsession: Session, import_id: int, target: IO[bytes]) -> None:
    """Write the parts of a file, one after the other, into a file on disk."""
    numbers = select(ImportPart.number).where(ImportPart.import_id == import_id).order_by(ImportPart.number)
    for number in dbsession.scalars(numbers).all():
        key = (ImportPart.import_id == import_id, ImportPart.number == number)
        target.write(dbsession.scalar(select(ImportPart.content).where(*key)) or b"")
    target.flush()


def remove_file(dbsession: Session, import_id: int) -> None:
    """Remove the parts of a file."""
    dbsession.execute(delete(ImportPart).where(ImportPart.import_id == import_id))


def discard(dbsession: Session, ids: Collection[int]) -> None:
    """Remove imports with all that belongs to them."""
    for table in (ImportPart, ImportRow, ImportKept):
        dbsession.execute(delete(table).where(table.import_id.in_(ids)))
    dbsession.execute(delete(ImportBatch).where(ImportBatch.id.in_(ids)))


def outdated(dbsession: Session, limit: int) -> Sequence[int]:
    """Return the ids of uploads that were made more than KEEP ago and not imported."""
    old = (ImportBatch.created_at < now() - KEEP, ImportBatch.state.in_(UNFINISHED))
    return dbsession.scalars(select(ImportBatch.id).where(*old).limit(limit)).all()


# Rows


def add_rows(
    dbsession: Session, import_id: int, rows: Iterable[PlannedRow], conflicts: Collection[int] = frozenset()
) -> None:
    """Store planned rows; those on the lines ``conflicts`` as conflicts."""
    values = [
        {
            "import_id": import_id,
            "line": row.line,
            "outcome": CONFLICT if row.line in conflicts else row.outcome.value,
            "is_doubtful": bool(row.doubts),
            "is_similar": bool(row.similar),
            "data": row.to_json(),
        }
        for row in rows
    ]
    if values:
        dbsession.execute(insert(table_of(ImportRow)), values)


def remove_rows(dbsession: Session, import_id: int) -> None:
    """Remove the planned rows."""
    dbsession.execute(delete(ImportRow).where(ImportRow.import_id == import_id))


def rows_to_write(dbsession: Session, import_id: int, after: int, most: int) -> list[PlannedRow]:
    """Return the first rows after the line ``after`` that create or change a record."""
    # The concatenation keeps PostgreSQL, which has no statistics of new rows, from reading and sorting all the rest.
    own = (ImportRow.import_id == import_id, ImportRow.line > after, (ImportRow.outcome + "").in_(WRITES))
    query = select(ImportRow.data).where(*own).order_by(ImportRow.line).limit(most)
    return [PlannedRow.from_json(data) for data in dbsession.scalars(query) if data]


def note_written(dbsession: Session, import_id: int, first: int, last: int, conflicts: Collection[int]) -> None:
    """Remove the rows from line ``first`` to ``last`` that were written without a doubt; mark the conflicts."""
    own = (ImportRow.import_id == import_id, ImportRow.line >= first, ImportRow.line <= last)
    written = (*own, ImportRow.outcome.in_(WRITES), ImportRow.line.not_in(conflicts))
    dbsession.execute(delete(ImportRow).where(*written, ImportRow.is_doubtful.is_(False)))
    if conflicts:
        dbsession.execute(update(ImportRow).where(*own, ImportRow.line.in_(conflicts)).values(outcome=CONFLICT))


def shown(show: str) -> ColumnElement[bool]:
    """Return the condition of the rows that a count of the preview stands for."""
    conditions = {"doubtful": ImportRow.is_doubtful.is_(True), "similar": ImportRow.is_similar.is_(True)}
    return conditions.get(show, ImportRow.outcome == show)


def count_rows(dbsession: Session, import_id: int, show: str) -> int:
    """Return the number of rows of a count whose data are stored."""
    query = select(func.count()).select_from(ImportRow)
    return dbsession.scalar(query.where(ImportRow.import_id == import_id, shown(show))) or 0


def rows(dbsession: Session, import_id: int, show: str, start: int, length: int) -> list[PlannedRow]:
    """Return the rows of a count by their lines, as a page can show them."""
    query = select(ImportRow.data).where(ImportRow.import_id == import_id, shown(show), ImportRow.data.is_not(None))
    data = dbsession.scalars(query.order_by(ImportRow.line).offset(start).limit(length))
    return [PlannedRow.from_json(readable(row)) for row in data]


def iterate_rows(dbsession: Session, import_id: int, show: Collection[str], size: int = 500) -> Iterator[PlannedRow]:
    """Yield the rows of several counts by their lines, in chunks, so that memory stays flat."""
    condition = shown(next(iter(show))) if len(show) == 1 else ImportRow.outcome.in_(show)
    last = 0
    while True:
        own = (ImportRow.import_id == import_id, ImportRow.line > last, condition, ImportRow.data.is_not(None))
        stored_rows = dbsession.scalars(select(ImportRow.data).where(*own).order_by(ImportRow.line).limit(size)).all()
        yield from map(PlannedRow.from_json, stored_rows)
        if len(stored_rows) < size:
            return
        last = stored_rows[-1]["line"]


# The undo


def keep(dbsession: Session, import_id: int, kept: Iterable[tuple[int, str, str, Json]]) -> None:
    """Store the records that a bulk edit or an undo left as they are: id, label, reason and problem."""
    names = ("record_id", "label", "reason", "problem")
    values = [{"import_id": import_id, **dict(zip(names, row, strict=True))} for row in kept]
    if values:
        dbsession.execute(insert(ImportKept), values)


def kept(dbsession: Session, import_id: int, most: int) -> Sequence[ImportKept]:
    """Return the first records that the edit or the undo left as they are."""
    query = select(ImportKept).where(ImportKept.import_id == import_id).order_by(ImportKept.record_id)
    return dbsession.scalars(query.limit(most)).all()
