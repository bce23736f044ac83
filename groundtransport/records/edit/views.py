"""Creating and editing: the form, what it makes, and a version brought back."""

import re
import secrets
from typing import Any

from pyramid.httpexceptions import HTTPNotFound, HTTPSeeOther
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.accounts.saved_forms import own_stamp
from groundtransport.i18n import _
from groundtransport.records.duplicates.candidates import identifying
from groundtransport.records.edit.conflict import Conflict, sent_version
from groundtransport.records.edit.hints import similar_to
from groundtransport.records.edit.initial_values import initial_values
from groundtransport.records.edit.merge import three_way
from groundtransport.records.edit.saved_forms import forget, kept_for
from groundtransport.records.flash import flash
from groundtransport.records.forms import RecordForm
from groundtransport.records.kind import label_of
from groundtransport.records.list import query as queries
from groundtransport.records.urls import create_url, edit_url, list_url, sent_query
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.resources import Collection, Record
from groundtransport.security import Permission, edit_key_is_right
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.form_data import submitted

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)
FORM = "groundtransport:records/templates/form.jinja2"


class FormViews:
    """What creating and editing share."""

    def __init__(self, context: Any, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    @property
    def title(self) -> str:
        """The page's heading."""
        raise TypeError("each form has a title of its own")

    def form(self) -> RecordForm:
        """Return the form with what the request sent."""
        raise TypeError("each form begins with values of its own")

    def address(self, state: str) -> str:
        """Return where the form can be opened."""
        raise TypeError("each form has an address of its own")

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        """Return what the form's template needs."""
        return {
            "kind": self.kind,
            "form": form,
            "title": self.title,
            "state": state,
            "back": list_url(self.request, self.kind, state),
            "action": self.request.context_path(self.context),
            "address": "" if self.request.method == "GET" else self.address(state),
            "version": None,
            "form_token": None,
            "record_id": None,
            "owner": own_stamp(self.request),
            "kept": "",
            "notice": "",
            "similar": [],
        }

    def page_again(self, form: RecordForm, state: str, **more: Any) -> dict[str, Any]:
        """Return the page of a form that holds what was typed and not saved."""
        page = self.page(form, state)
        return {**page, "similar": similar_to(self.request, form, page["record_id"]), **more}

    @property
    def wants_refresh(self) -> bool:
        """Whether the form's second button was pressed: the same form, with the lists of the airport typed."""
        return "refresh" in self.request.POST

    def refreshed(self, form: RecordForm) -> dict[str, Any]:
        form.check_airport()
        return self.page_again(form, sent_query(self.request, self.kind).state())

    def answer(self, message: str, values: dict[str, Any], form: RecordForm, record_id: int, **more: Any) -> Response:
        """Return the redirect to where the pressed button leads, with a message and what is doubtful in the record."""
        state = sent_query(self.request, self.kind).state()
        flash(
            self.request,
            message,
            name=label_of(self.kind, values, record_id),
            url=edit_url(self.request, self.kind, record_id, state),
            list_state=state,
            kind_name=self.kind.name,
            record_id=record_id,
            **more,
        )
        for warning in form.warnings(values):
            flash(self.request, warning, level="warning")
        forget(self.request)
        return see_other(self.target(record_id, state))

    def target(self, record_id: int, state: str) -> str:
        """Return where the save leads: to the list, to this record's form, or to a new form at the same place."""
        then = submitted(self.request, ("then",)).get("then")
        if then == "edit":
            return edit_url(self.request, self.kind, record_id, state)
        if then == "add":
            return create_url(self.kind, state, near=record_id)
        return list_url(self.request, self.kind, state)


@view_defaults(context=Collection, permission=Permission.CREATE, renderer=FORM)
class CreateViews(FormViews):
    @property
    def title(self) -> str:
        new: str = self.request.translate(
            _("New ${kind}", mapping={"kind": self.request.translate(self.kind.title).lower()})
        )
        return new

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        token = secrets.token_urlsafe(16) if self.request.method == "GET" else self.form_token()
        return {**super().page(form, state), "form_token": token or secrets.token_urlsafe(16)}

    def address(self, state: str) -> str:
        return create_url(self.kind, state)

    def form(self) -> RecordForm:
        return RecordForm(self.request, self.kind)

    @view_config(name="create", request_method="GET")
    def show(self) -> dict[str, Any]:
        query = queries.of_request(self.kind, self.request)
        kept = kept_for(self.request, self.request.context_path(self.context))
        if kept:
            form = RecordForm(self.request, self.kind, values=kept.fields)
            return self.page_again(form, kept.state, **kept.page)
        form = RecordForm(self.request, self.kind, values=initial_values(self.context, self.request, query))
        form.focus((self.kind.label if form.place.airport else None) or "airport_name")
        return self.page(form, query.state())

    @view_config(request_method="POST")
    def create(self) -> Any:
        form = self.form()
        if self.wants_refresh:
            return self.refreshed(form)
        writer, token = writer_of(self.request, self.kind), self.form_token()
        record = writer.created_by(token)
        if record is None:
            values = form.validate()
            try:
                record_id = writer.create(values, token)
                return self.answer(_("{} was created."), values, form, record_id, compared_fields=())
            except IntegrityError:  # a double click: the other request was first
                self.request.tm.abort()  # no savepoint: everybody would pay for it
                self.request.tm.begin()
                record = writer.created_by(token)
                if record is None:
                    raise
        return self.answer(
            _("{} was created already; it was not created again."), writer.values(record), form, record.id
        )

    def form_token(self) -> str | None:
        """Return the form's one-time token; None from a client that sends none, or none of ours."""
        token = submitted(self.request, ("form_token",)).get("form_token", "")
        return token if _TOKEN.fullmatch(token) else None


@view_defaults(context=Record, permission=Permission.EDIT, renderer=FORM)
class EditViews(FormViews):
    def __init__(self, context: Record, request: Request) -> None:
        super().__init__(context, request)
        self.row = context.row
        self.writer = writer_of(request, self.kind)

    @property
    def label(self) -> str:
        return label_of(self.kind, self.writer.values(self.row), self.row.id)

    @property
    def title(self) -> str:
        edit: str = self.request.translate(_("Edit ${name}", mapping={"name": self.label}))
        return edit

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        # A form that comes back names the version that it was made from, else a stale one would pass the next time.
        sent = form.version or sent_version(self.request)
        version = self.row.version if sent is None else sent
        return {
            **super().page(form, state),
            "version": version,
            "record_id": self.row.id,
            "history": f"/admin/{self.kind.name}/{self.row.id}/history",
            "duplicate": create_url(self.kind, state, copy=self.row.id),
        }

    def address(self, state: str) -> str:
        return edit_url(self.request, self.kind, self.row.id, state)

    def form(self, typed: dict[str, Any] | None = None) -> RecordForm:
        return RecordForm(self.request, self.kind, self.writer.values(self.row), typed)

    @view_config(name="edit", request_method="GET")
    def show(self) -> Any:
        """The form, for who brings the link's key; for others the list again, and why."""
        state = queries.of_request(self.kind, self.request).state()
        given = self.request.GET.getall("key")
        settings, identity = self.request.registry["settings"], self.request.identity
        if not edit_key_is_right(settings.secrets, given, identity, self.kind.name, self.row.id):
            text = _("That link to edit is not, or no longer, valid. Open the record from the list.")
            flash(self.request, text, level="warning")
            record(self.request, Event.BAD_EDIT_KEY, kind=self.kind.name, record=self.row.id)
            return HTTPSeeOther(list_url(self.request, self.kind, state))
        kept = kept_for(self.request, self.request.context_path(self.context))
        if kept:
            form = self.form({**self.writer.values(self.row), **kept.fields})
            form.version = kept.version
            return self.page_again(form, kept.state, **kept.page)
        form = self.form()
        form.focus("airport_name")  # or the field that a link asks for by its fragment: the browser's script knows
        return self.page(form, state)

    @view_config(request_method="PUT")
    def update(self) -> Any:
        form = self.form()
        if self.wants_refresh:
            return self.refreshed(form)
        form, values, taken = self.merged(form, form.validate())
        return self.save(form, values, self.saved(taken))

    def merged(self, form: RecordForm, values: dict[str, Any]) -> tuple[RecordForm, dict[str, Any], tuple[str, ...]]:
        """Return the form and its values with what others saved in between, and the fields that are theirs.

        Raises Conflict when both sides changed a field.
        """
        version = sent_version(self.request)
        if version in (None, self.row.version):
            return form, values, ()
        before = self.request.values_at(self.kind, self.row, version)
        merge = three_way(self.kind.fields, before, values, self.writer.values(self.row))
        if merge.clashes:
            raise Conflict(self.row, merge)
        form = self.form(merge.values)
        form.version = self.row.version  # it holds the others' changes now
        return form, form.validate(), merge.taken

    def save(self, form: RecordForm, values: dict[str, Any], message: str) -> Response:
        """Write the values, and answer with a message and the way back."""
        before, was = self.row.version, self.writer.values(self.row)
        if not self.writer.update(self.row, values):
            return self.answer(_("Nothing was changed in {}."), values, form, self.row.id)
        undo = f"{self.request.context_path(self.context)}/restore"
        more: dict[str, Any] = {"undo_url": undo, "undo_fields": {"to_version": before, "version": self.row.version}}
        changed = [name for name in identifying(self.kind) if was[name] != values[name]]
        if changed:  # at another airport, all fields are compared
            more["compared_fields"] = () if "airport_id" in changed else tuple(changed)
        return self.answer(message, values, form, self.row.id, **more)

    def saved(self, taken: tuple[str, ...]) -> str:
        if not taken:
            return _("{} was saved.")
        titles = tuple(self.kind.fields[name].title for name in taken)
        return _(
            "{} was saved. What somebody else changed in the meantime was kept: ${fields}.",
            mapping={"fields": titles},
        )

    @view_config(name="restore", request_method="POST", permission=Permission.RESTORE)
    def restore_version(self) -> Any:
        """Bring back what the record said at ``to_version``: a new change, through the same validation."""
        version = queries.number(submitted(self.request, ("to_version",)).get("to_version", ""))
        values = self.request.values_at(self.kind, self.row, version) if version else None
        if values is None:
            raise HTTPNotFound
        if sent_version(self.request) not in (None, self.row.version):
            raise StaleDataError(self.row.id)
        form = self.form(values)
        return self.save(form, form.validate(), _("{} is again as it was before."))
