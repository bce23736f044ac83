"""``/admin/<kind>/<id>/merge?with=<id>``: two records side by side, from which one is made."""

import secrets
from dataclasses import dataclass

from pyramid.httpexceptions import HTTPBadRequest, HTTPForbidden, HTTPNotFound
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.events import MERGED_INTO
from groundtransport.i18n import _
from groundtransport.records.doubles.merging import Choice, better, choices, merge
from groundtransport.records.doubles.urls import pairs_url
from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list.query import parse_int
from groundtransport.records.model import RecordColumns
from groundtransport.records.urls import list_url
from groundtransport.records.validity import WRONG_ORDER, is_in_order
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.request import Request
from groundtransport.resources import Record
from groundtransport.security import Permission
from groundtransport.web.form_data import read_form, submitted

TEMPLATE = "groundtransport:records/templates/merge.jinja2"
NOT_TWO = _("One of these records was deleted.")
STALE = _("Somebody changed one of these records in the meantime. Nothing was merged: look again, then merge them.")


@dataclass
class MergeForm:
    """The form of a merge, besides the choice of each field: ``pick-<field>`` holds the id of a record."""

    other: str = ""
    survivor: str = ""
    version: str = ""
    other_version: str = ""


@view_defaults(context=Record, name="merge", permission=Permission.DELETE)
class MergeViews:
    def __init__(self, context: Record, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind
        self.one: RecordColumns = context.row
        if not hasattr(self.kind.model, MERGED_INTO):  # a kind whose records are deleted for good
            raise HTTPNotFound

    @view_config(request_method="GET", renderer=TEMPLATE)
    def show(self) -> dict[str, object]:
        sent = self.request.GET.getall("with")
        other = self._other(sent[0] if len(sent) == 1 else "")
        survivor_id = better(self.kind, self.one, other)
        return self._page(other, survivor_id, {})

    @view_config(request_method="POST")
    def merge(self) -> Response:
        """Merge the records as one batch, which one undo takes back."""
        form = read_form(self.request, MergeForm)
        other = self._other(form.other)
        survivor_id = other.id if form.survivor == str(other.id) else self.one.id
        fields = choices(self.kind, self.one, other, survivor_id)
        picked = self._picked(fields, other, survivor_id)
        if (parse_int(form.version), parse_int(form.other_version)) != (self.one.version, other.version):
            return self._again(other, survivor_id, picked, STALE, 409)
        batch = f"merge-{secrets.token_hex(8)}"
        survivor, lost = (self.one, other) if survivor_id == self.one.id else (other, self.one)
        chosen = {field.node.name: field.value_of(picked[field.node.name] == self.one.id) for field in fields}
        writer = writer_of(self.request, self.kind, batch)
        if not is_in_order(writer.values(survivor) | chosen):
            return self._again(other, survivor_id, picked, WRONG_ORDER, 422)
        merge(writer, survivor, lost, chosen)
        self._tell(survivor, lost, batch)
        return see_other(pairs_url(self.kind, PairQuery()))

    def _again(
        self, other: RecordColumns, survivor_id: int, picked: dict[str, int], notice: str, status: int
    ) -> Response:
        """Return the page with what was chosen, and a notice why nothing was merged."""
        values = {**self._page(other, survivor_id, picked), "notice": notice}
        response = render_to_response(TEMPLATE, values, self.request)
        response.status_int = status
        return response

    def _other(self, text: str) -> RecordColumns:
        """Return the other record. Raise HTTPBadRequest without one, HTTPForbidden if one may not be changed."""
        try:
            record = self.context.__parent__.live(text)
        except KeyError as error:
            raise HTTPBadRequest(NOT_TWO) from error
        if record.row.id == self.one.id:
            raise HTTPBadRequest(NOT_TWO)
        allowed = (self.request.has_permission(name, each) for name in CHANGES for each in (self.context, record))
        if not all(allowed):
            raise HTTPForbidden
        row: RecordColumns = record.row
        return row

    def _picked(self, fields: list[Choice], other: RecordColumns, survivor_id: int) -> dict[str, int]:
        """Return the id of the record that a user chose for each field; the survivor's for a field without a choice."""
        names = {f"pick-{choice.node.name}": choice.node.name for choice in fields}
        sent = submitted(self.request, names)
        valid = {str(row.id): row.id for row in (self.one, other)}
        return {name: valid.get(sent.get(field, ""), survivor_id) for field, name in names.items()}

    def _page(self, other: RecordColumns, survivor_id: int, picked: dict[str, int]) -> dict[str, object]:
        fields = choices(self.kind, self.one, other, survivor_id)
        return {
            "kind": self.kind,
            "rows": (self.one, other),
            "labels": [self._label(row) for row in (self.one, other)],
            "fields": fields,
            "survivor_id": survivor_id,
            "picked": {choice.node.name: picked.get(choice.node.name, choice.preferred) for choice in fields},
            "action": f"{self.request.context_path(self.context)}/merge",
            "back": pairs_url(self.kind, PairQuery()),
        }

    def _label(self, row: RecordColumns) -> str:
        return label_of(self.kind, {name: getattr(row, name) for name in self.kind.fields}, row.id)

    def _tell(self, survivor: RecordColumns, lost: RecordColumns, batch: str) -> None:
        flash(
            self.request,
            _("{} now stands for both records; record ${id} leads to it.", mapping={"id": str(lost.id)}),
            name=self._label(survivor),
            url=list_url(self.request, self.kind, f"view={survivor.id}"),
            undo_url=f"/admin/{self.kind.name}/undo",
            undo_fields={"batch": batch},
            has_focus=True,
        )


CHANGES = (Permission.EDIT, Permission.DELETE)
