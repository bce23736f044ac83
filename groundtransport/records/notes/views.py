"""``/admin/<kind>/<id>/notes``: the notes of a record; add and delete one."""

from dataclasses import dataclass
from types import MappingProxyType

from pyramid.httpexceptions import HTTPForbidden
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.events import Change, NoteAdded, NoteDeleted
from groundtransport.i18n import _
from groundtransport.notes import store
from groundtransport.notes.models import NOTE_MAX, RecordNote
from groundtransport.records.flash import flash
from groundtransport.records.kind import label_of
from groundtransport.records.list.query import parse_int
from groundtransport.records.notes.shown import may_delete, shown_notes
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.request import Request
from groundtransport.resources import Record
from groundtransport.security import Permission
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import read_form

TEMPLATE = "groundtransport:records/notes/templates/page.jinja2"
TOKEN_MAX = 64  # characters
EMPTY = _("Write a note.")
LONG = _("A note can have at most ${number} characters.", mapping={"number": f"{NOTE_MAX:,}"})
CONTROL = _("The note holds a control character.")
GONE = _("That note was deleted in the meantime.")


@dataclass(frozen=True)
class NoteForm:
    """A new note; or with ``delete``, the id of the note to delete."""

    text: str = ""
    form_token: str = ""
    delete: str = ""


@view_defaults(context=Record, name="notes")
class NoteViews:
    def __init__(self, context: Record, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind
        self.writer = writer_of(request, self.kind)

    @property
    def label(self) -> str:
        return label_of(self.kind, self.writer.values(self.context.row), self.context.row.id)

    @view_config(request_method="GET", permission=Permission.VIEW, renderer=TEMPLATE)
    def show(self) -> dict[str, object]:
        """Show the notes on a page of their own."""
        return self.page()

    def page(self, typed: str = "", error: str = "") -> dict[str, object]:
        notes = shown_notes(self.request, self.context, typed, error)
        return {"kind": self.kind, "label": self.label, "notes": notes, "state": "", "back": self.url_of_details()}

    @view_config(request_method="POST", permission=Permission.EDIT)
    def change(self) -> Response:
        """Add a note, or delete one."""
        form = read_form(self.request, NoteForm)
        return self.delete(form.delete) if form.delete else self.add(form)

    def add(self, form: NoteForm) -> Response:
        text = form.text.replace("\r\n", "\n").replace("\r", "\n").strip()
        if error := _error(text):
            return self.refuse(form.text, self.request.translate(error))
        note = RecordNote(
            kind=self.kind.name,
            record_id=self.context.row.id,
            text=text,
            author_id=self.request.user.user_id,
            author=self.request.user.name,
            form_token=form.form_token[:TOKEN_MAX] or None,
        )
        if store.add(self.request.dbsession, note):
            self.publish(NoteAdded, "", text)
        return see_other(self.url_of_details())

    def delete(self, number: str) -> Response:
        note = store.find(self.request.dbsession, self.kind.name, self.context.row.id, parse_int(number) or 0)
        if note is None:
            flash(self.request, GONE, level="warning")
        elif not may_delete(self.request, self.context, note):
            raise HTTPForbidden(result=self.request.has_permission(Permission.NOTES, self.context))
        else:
            store.remove(self.request.dbsession, note)
            self.publish(NoteDeleted, note.text, "")
        return see_other(self.url_of_details())

    def publish(self, event: type[Change], old: str, new: str) -> None:
        """Notify the subscribers; the values of the event are the note and the record's airport."""
        row, airport = self.context.row, {"airport_code": self.context.row.airport_code}
        before, after = (MappingProxyType({**airport, "note": text or None}) for text in (old, new))
        actor, dbsession = self.writer.actor, self.request.dbsession
        change = event(self.kind.name, row.id, self.label, before, after, row.version, actor, dbsession)
        self.request.registry.notify(change)

    def refuse(self, typed: str, error: str) -> Response:
        """Return the page with the error and the typed note; problem details for a JSON client."""
        if prefers_json(self.request):
            return problem(self.request, 422, error, errors={"text": [error]})
        response = render_to_response(TEMPLATE, self.page(typed, error), request=self.request)
        response.status_int = 422
        return response

    def url_of_details(self) -> str:
        """Return the URL of the list, with the record's details over it."""
        state = sent_query(self.request, self.kind).state()
        return list_url(self.request, self.kind, f"{state}&view={self.context.row.id}".removeprefix("&"))


def _error(text: str) -> str:
    """Return why a text is no note, or ""."""
    if not text:
        return EMPTY
    if len(text) > NOTE_MAX:
        return LONG
    printable = text.replace("\n", "").replace("\t", "")
    return "" if not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in printable) else CONTROL
