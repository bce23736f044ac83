"""The pages of every kind: list, create, detail, edit, update, delete. They read the kind's declaration."""

import re
import secrets
from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render, render_to_response
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy.exc import IntegrityError

from groundtransport.airports import lookup
from groundtransport.records import listing
from groundtransport.records.conflict import check_version
from groundtransport.records.forms import RecordForm
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.links import actions, deleted_actions, edit_address, list_address, sent_query
from groundtransport.records.writer import Writer
from groundtransport.resources import Collection, DeletedRecord, Record
from groundtransport.security import Permission, edit_key_is_right
from groundtransport.web.actor import actor_of
from groundtransport.web.errors import error
from groundtransport.web.fields import submitted

DELETED = "groundtransport:records/templates/deleted.jinja2"


def writer_of(request: Request, kind: Kind) -> Writer:
    return Writer(request.dbsession, request.registry.notify, kind, actor_of(request))


@view_defaults(context=Collection, request_method="GET", permission=Permission.VIEW)
class ListViews:
    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    @view_config(ajax=False, renderer="groundtransport:records/templates/list.jinja2")
    def html(self) -> Any:
        query = listing.of_request(self.kind, self.request)
        page = listing.page(self.request.dbsession, self.kind, query)
        state = query.state(page_no=str(page.number)) if query.page_no else query.state()
        for row in page.rows:
            row["actions"] = self.actions(query, row["id"], state)
        values = {"kind": self.kind, "page": page, "query": query, "context": self.context, "state": state}
        return render_to_response(DELETED, values, request=self.request) if query.deleted else values

    def actions(self, query: listing.ListQuery, record_id: int, state: str) -> dict[str, str]:
        if query.deleted:
            return deleted_actions(self.request, self.context, record_id)
        return actions(self.request, self.context, record_id, state)

    @view_config(ajax=True, renderer="json")
    def datatables(self) -> dict[str, Any]:
        query, answer = listing.datatables(self.request.dbsession, self.kind, self.request)
        for row in answer["data"]:
            row["DT_RowId"] = f"record-{row['id']}"
            row["actions"] = self.actions(query, row["id"], query.state())
        return answer


class FormViews:
    """What creating and editing share."""

    title = ""

    def __init__(self, context: Any, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        """Return what the form's template needs."""
        return {
            "kind": self.kind,
            "form": form,
            "title": self.title,
            "state": state,
            "back": list_address(self.request, self.kind, state),
            "action": self.request.address(self.context),
            "version": None,
            "form_token": None,
        }

    @property
    def wants_refresh(self) -> bool:
        """Whether the form's second button was pressed: the same form, with the lists of the airport typed."""
        return "refresh" in self.request.POST

    def answer(self, message: str, values: dict[str, Any], form: RecordForm, record_id: int) -> Response:
        """Return the redirect to the list, with its state, a message and what is doubtful in the record."""
        state = sent_query(self.request, self.kind).state()
        href = edit_address(self.request, self.kind, record_id, state)
        self.request.session.flash({"text": message, "href": href, "name": label_of(self.kind, values, record_id)})
        for warning in form.warnings(values):
            self.request.session.flash({"text": warning, "level": "warning"})
        return HTTPSeeOther(list_address(self.request, self.kind, state))


_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)
FORM = "groundtransport:records/templates/form.jinja2"


@view_defaults(context=Collection, permission=Permission.CREATE, renderer=FORM)
class CreateViews(FormViews):
    @property
    def title(self) -> str:  # type: ignore[override]
        return f"New {self.kind.title.lower()}"

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        return {**super().page(form, state), "form_token": secrets.token_urlsafe(16)}

    @view_config(name="create", request_method="GET")
    def show(self) -> dict[str, Any]:
        query = listing.of_request(self.kind, self.request)
        return self.page(RecordForm(self.request, self.kind), query.state())

    @view_config(request_method="POST")
    def create(self) -> Any:
        form = RecordForm(self.request, self.kind)
        if self.wants_refresh:
            return self.page(form, sent_query(self.request, self.kind).state())
        writer, token = writer_of(self.request, self.kind), self.form_token()
        record = writer.created_by(token)
        if record is None:
            values = form.validate()
            try:
                with self.request.dbsession.begin_nested():
                    record = writer.create(values, token)
                return self.answer("{} was created.", values, form, record.id)
            except IntegrityError:  # a double click: the other request was first
                record = writer.created_by(token)
                if record is None:
                    raise
        return self.answer("{} was created already; it was not created again.", writer.values(record), form, record.id)

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
    def title(self) -> str:  # type: ignore[override]
        return f"Edit {label_of(self.kind, self.writer.values(self.row), self.row.id)}"

    def page(self, form: RecordForm, state: str) -> dict[str, Any]:
        return {**super().page(form, state), "version": self.row.version}

    def form(self) -> RecordForm:
        return RecordForm(self.request, self.kind, self.writer.values(self.row))

    @view_config(name="edit", request_method="GET")
    def show(self) -> Any:
        """The form, for who brings the link's key; for others the list again, and why."""
        state = listing.of_request(self.kind, self.request).state()
        given = self.request.GET.getall("key")
        settings, identity = self.request.registry["settings"], self.request.identity
        if not edit_key_is_right(settings.secrets, given, identity, self.kind.name, self.row.id):
            text = "That link to edit is not, or no longer, valid. Open the record from the list."
            self.request.session.flash({"text": text, "level": "warning"})
            return HTTPSeeOther(list_address(self.request, self.kind, state))
        return self.page(self.form(), state)

    @view_config(request_method="PUT")
    def update(self) -> Any:
        form = self.form()
        if self.wants_refresh:
            return self.page(form, sent_query(self.request, self.kind).state())
        values = form.validate()
        check_version(self.request, self.row, form)
        changed = self.writer.update(self.row, values)
        message = "{} was saved." if changed else "Nothing was changed in {}."
        return self.answer(message, values, form, self.row.id)


@view_config(context=Record, request_method="GET", permission=Permission.VIEW)
def detail(context: Record, request: Request) -> Response:
    """The fragment for the dialog: only the fields that have a value."""
    fields = [(node, value) for name, node in context.kind.fields.items() if (value := getattr(context.row, name))]
    values = {"fields": fields, "kind": context.kind}
    request.response.text = render("groundtransport:records/templates/detail.jinja2", values, request=request)
    return request.response


@view_defaults(context=Record, permission=Permission.DELETE)
class DeleteViews:
    def __init__(self, context: Record, request: Request) -> None:
        self.request, self.context, self.kind = request, context, context.kind

    @view_config(name="delete", request_method="GET", renderer="groundtransport:records/templates/delete.jinja2")
    def confirm(self) -> dict[str, Any]:
        return self.page(listing.of_request(self.kind, self.request).state())

    def page(self, state: str) -> dict[str, Any]:
        row = self.context.row
        return {
            "kind": self.kind,
            "row": row,
            "label": label_of(self.kind, writer_of(self.request, self.kind).values(row), row.id),
            "state": state,
            "back": list_address(self.request, self.kind, state),
            "action": self.request.address(self.context),
        }

    @view_config(request_method="DELETE")
    def delete(self) -> Any:
        submitted(self.request, ("_method", "version", "list_state"))
        check_version(self.request, self.context.row, self)
        page = self.page(sent_query(self.request, self.kind).state())
        writer_of(self.request, self.kind).delete(self.context.row)
        undo = f"{page['action']}/restore" if listing.can_restore(self.kind) else ""
        self.request.session.flash(
            {"text": "{} was deleted.", "name": page["label"], "undo": undo, "state": page["state"]}
        )
        return HTTPSeeOther(page["back"])


@view_config(context=DeletedRecord, name="restore", request_method="POST", permission=Permission.RESTORE)
def restore(context: DeletedRecord, request: Request) -> Response:
    """Bring a deleted record back, as long as its airport takes records."""
    query = sent_query(request, context.kind)
    airport = lookup.by_code(request.dbsession, context.row.airport_code)
    if airport is None or airport.withdrawn_at is not None:
        return error(request, 422, f"{context.row.airport_name} is no longer in the list of airports.")
    writer = writer_of(request, context.kind)
    writer.restore(context.row)
    label = label_of(context.kind, writer.values(context.row), context.row.id)
    href = edit_address(request, context.kind, context.row.id, query.state())
    request.session.flash({"text": "{} was restored.", "name": label, "href": href})
    return HTTPSeeOther(list_address(request, context.kind, query.state()))
