"""The views that delete a record, after a confirmation, and restore a deleted one."""

from typing import Any

from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.edit.conflict import StaleDelete, sent_version
from groundtransport.records.flash import flash
from groundtransport.records.kind import label_of
from groundtransport.records.list import query as queries
from groundtransport.records.urls import edit_url, list_url, sent_query
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.resources import DeletedRecord, Record
from groundtransport.security import Permission
from groundtransport.web.errors import error

DELETE = "groundtransport:records/templates/delete.jinja2"


@view_defaults(context=Record, permission=Permission.DELETE)
class DeleteViews:
    def __init__(self, context: Record, request: Request) -> None:
        self.request, self.context, self.kind = request, context, context.kind

    @view_config(name="delete", request_method="GET", renderer=DELETE)
    def confirm(self) -> dict[str, Any]:
        return self.page(queries.of_request(self.kind, self.request).state())

    def page(self, state: str) -> dict[str, Any]:
        row = self.context.row
        return {
            "kind": self.kind,
            "row": row,
            "label": label_of(self.kind, writer_of(self.request, self.kind).values(row), row.id),
            "state": state,
            "back": list_url(self.request, self.kind, state),
            "action": self.request.context_path(self.context),
        }

    @view_config(request_method="DELETE")
    def delete(self) -> Any:
        if sent_version(self.request) not in (None, self.context.row.version):
            raise StaleDelete(self.context.row)
        page = self.page(sent_query(self.request, self.kind).state())
        writer_of(self.request, self.kind).delete(self.context.row)
        here, can_restore = page["action"], queries.can_restore(self.kind)
        undo = {"undo_url": f"{here}/restore", "url": f"{here}/history"} if can_restore else {}
        flash(self.request, _("{} was deleted."), name=page["label"], list_state=page["state"], **undo)
        return see_other(page["back"])


@view_config(context=DeletedRecord, name="restore", request_method="POST", permission=Permission.RESTORE)
def restore(context: DeletedRecord, request: Request) -> Response:
    """Restore a deleted record, unless its airport was withdrawn (422) or this is the undo of an update (409)."""
    if "to_version" in request.POST:  # the undo of an update, sent after another user deleted the record
        return error(
            request, 409, _("Somebody deleted this record in the meantime. Restore it first, if it shall be back.")
        )
    query = sent_query(request, context.kind)
    airport = request.dbsession.get_one(Airport, context.row.airport_id)
    if airport.withdrawn_at is not None:
        return error(
            request,
            422,
            _("${airport} is no longer in the list of airports.", mapping={"airport": context.row.airport_name}),
        )
    writer = writer_of(request, context.kind)
    writer.restore(context.row)
    label = label_of(context.kind, writer.values(context.row), context.row.id)
    url = edit_url(request, context.kind, context.row.id, query.state())
    flash(
        request,
        _("{} was restored."),
        name=label,
        url=url,
        list_state=query.state(),
        undo_url=f"/admin/{context.kind.name}/{context.row.id}",
        undo_fields={"_method": "DELETE", "version": context.row.version},
        kind_name=context.kind.name,
        record_id=context.row.id,
    )
    return see_other(list_url(request, context.kind, query.state()))
