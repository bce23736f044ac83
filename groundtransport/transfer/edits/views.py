"""``POST /admin/<kind>/change``: the form of a bulk edit, its confirmation, and its begin."""

from dataclasses import dataclass, replace

from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import select

from groundtransport.i18n import _
from groundtransport.records.bulk.views import NAMED, Selection, selection_of
from groundtransport.records.flash import flash
from groundtransport.records.kind import label_of
from groundtransport.records.list import columns, pages
from groundtransport.records.list.execute import execute
from groundtransport.records.list.query import parse_int
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.transfer.edits.form import EditForm, shown_changes
from groundtransport.transfer.edits.job import UPDATED
from groundtransport.transfer.edits.plan import EditPlan
from groundtransport.transfer.imports import steps, store
from groundtransport.transfer.imports.models import ImportBatch, ImportState
from groundtransport.transfer.row_writer import log_head
from groundtransport.web.actor import actor_of
from groundtransport.web.form_data import submitted

TEMPLATES = "groundtransport:transfer/edits/templates"
TOKEN_MAX = 64  # characters


@dataclass(frozen=True)
class Selected:
    """The selected records: some rows, their number, and the codes of their airports, as far as they are known."""

    result: ListResult
    codes: list[str]
    common: str  # the airport of all of them, or ""


@view_defaults(context=Collection, name="change", request_method="POST", permission=Permission.EDIT)
class ChangeViews:
    def __init__(self, context: Collection, request: Request) -> None:
        self.request, self.kind = request, context.kind
        self.query = replace(sent_query(request, self.kind), deleted=False)
        self.back = list_url(request, self.kind, self.query.state())

    @view_config()
    def change(self) -> Response:
        """Show the form; with ``next`` its confirmation; with ``confirmed`` begin the edit."""
        selection, sent = selection_of(self.request), submitted(self.request, ("next", "confirmed"))
        refusals = columns.refusals(self.request, self.kind, self.query)
        if refusals or not (selection.is_all or selection.versions):
            flash(self.request, " ".join(refusals.values()) or _("Select at least one record."), level="warning")
            return see_other(self.back)
        selected = self.selected(selection)
        form = EditForm(self.request, self.kind, selected.codes, selected.common)
        if not sent:
            return self.page("fields", 200, selection, selected, form)
        if not form.validate() or not form.texts:
            return self.page("fields", 422, selection, selected, form, is_empty=not form.errors)
        if "confirmed" in sent:
            return self.begin(selection, selected, form)
        return self.page("confirm", 200, selection, selected, form, changes=shown_changes(form, self.request.translate))

    def selected(self, selection: Selection) -> Selected:
        """Return what the pages say about the selected records."""
        if selection.is_all:
            result = execute(self.request.dbsession, self.kind, self.query, Window(0, NAMED))
            code = self.query.filters.get("airport_code", "").upper()
            return Selected(result, sorted({str(row["airport_code"]) for row in result.rows}), code)
        table = self.kind.model.__table__
        own = select(table).where(pages.live(self.kind), table.c.id.in_(selection.versions)).order_by(table.c.id)
        rows = [dict(row) for row in self.request.dbsession.execute(own).mappings()]
        codes = sorted({row["airport_code"] for row in rows})
        return Selected(ListResult(rows[:NAMED], len(rows), len(rows)), codes, codes[0] if len(codes) == 1 else "")

    def page(
        self, name: str, status: int, selection: Selection, selected: Selected, form: EditForm, **values: object
    ) -> Response:
        """Return the page of the form or of its confirmation."""
        labels = [label_of(self.kind, row, int(str(row["id"]))) for row in selected.result.rows]
        shared = {
            "kind": self.kind,
            "form": form,
            "selection": selection,
            "count": selected.result.filtered,
            "is_about": selected.result.is_estimate,
            "is_uncounted": selected.result.is_uncounted,
            "labels": labels,
            "chips": columns.chips(self.request, self.kind, self.query) if selection.is_all else [],
            "head": log_head(self.request.dbsession),
            "form_token": store.new_batch_name(),
            "state": self.query.state(),
            "back": self.back,
            "is_empty": False,
        }
        response = render_to_response(f"{TEMPLATES}/{name}.jinja2", {**shared, **values}, request=self.request)
        response.status_int = status
        return response

    def begin(self, selection: Selection, selected: Selected, form: EditForm) -> Response:
        """Store the edit and its job, unless the same form has done so; redirect to its page."""
        dbsession, actor = self.request.dbsession, actor_of(self.request)
        sent = submitted(self.request, ("head", "form_token"))
        head = min(parse_int(sent.get("head", "")) or 0, log_head(dbsession))
        versions = None if selection.is_all else selection.versions
        batch = ImportBatch(
            batch=store.new_batch_name().replace("import", "edit"),
            kind=self.kind.name,
            user_id=actor.user_id,
            actor=actor.name,
            address=actor.client_ip,
            form_token=sent.get("form_token", "")[:TOKEN_MAX] or None,
            filename="",
            digest="",
            size=0,
            edit=EditPlan(form.texts, versions, self.query.state(page_no=""), head).to_json(),
            counts={UPDATED: selected.result.filtered},
        )
        stored = store.add_once(dbsession, batch)
        if stored is batch:
            steps.begin(dbsession, batch, ImportState.COMMITTING)
            record(self.request, Event.IMPORT, what="edit", number=batch.id, batch=batch.batch)
        return see_other(f"/admin/imports/{stored.id}")
