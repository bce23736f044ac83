"""Read and write notes. Every function works in the transaction of the session that it gets."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from groundtransport.events import RecordPurged
from groundtransport.notes.models import RecordNote

SHOWN = 100  # notes of a record


def of_record(dbsession: Session, kind: str, record_id: int) -> Sequence[RecordNote]:
    """Return the newest notes of a record, the last one first."""
    own = (RecordNote.kind == kind, RecordNote.record_id == record_id)
    return dbsession.scalars(select(RecordNote).where(*own).order_by(RecordNote.id.desc()).limit(SHOWN)).all()


def find(dbsession: Session, kind: str, record_id: int, note_id: int) -> RecordNote | None:
    """Return a note of a record, locked; None if there is none."""
    own = (RecordNote.id == note_id, RecordNote.kind == kind, RecordNote.record_id == record_id)
    return dbsession.scalar(select(RecordNote).where(*own).with_for_update())


def add(dbsession: Session, note: RecordNote) -> bool:
    """Store a note and return True; return False if the same form has done so."""
    try:
        with dbsession.begin_nested():
            dbsession.add(note)
    except IntegrityError:
        return False
    return True


def remove(dbsession: Session, note: RecordNote) -> None:
    """Delete a note."""
    dbsession.delete(note)
    dbsession.flush()


def remove_with_record(event: RecordPurged) -> None:
    """Delete the notes of a record that is removed for good."""
    own = (RecordNote.kind == event.kind, RecordNote.record_id == event.record_id)
    event.dbsession.execute(delete(RecordNote).where(*own))
