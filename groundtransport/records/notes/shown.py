"""The notes of a record as its details show them."""

import secrets
from dataclasses import dataclass

from groundtransport.notes import store
from groundtransport.notes.models import NOTE_MAX, RecordNote
from groundtransport.request import Request
from groundtransport.resources import AnyRecord
from groundtransport.security import Permission


@dataclass(frozen=True)
class ShownNotes:
    """The notes, newest first, each with whether the user may delete it; and the form of a new one."""

    url: str
    notes: list[tuple[RecordNote, bool]]
    may_add: bool
    form_token: str
    text_max: int = NOTE_MAX
    typed: str = ""
    error: str = ""


def shown_notes(request: Request, context: AnyRecord, typed: str = "", error: str = "") -> ShownNotes:
    """Return the notes of a record; ``typed`` and ``error`` are those of a note that was refused."""
    may_add = bool(request.has_permission(Permission.EDIT, context))
    notes = store.of_record(request.dbsession, context.kind.name, context.row.id)
    shown = [(note, may_add and may_delete(request, context, note)) for note in notes]
    url, token = f"{request.context_path(context)}/notes", secrets.token_urlsafe(16)
    return ShownNotes(url, shown, may_add, token, typed=typed, error=error)


def may_delete(request: Request, context: AnyRecord, note: RecordNote) -> bool:
    """Return True if the user wrote the note or may delete those of others."""
    return note.author_id == request.user.user_id or bool(request.has_permission(Permission.NOTES, context))
