"""The views that delete a record, after a confirmation, and restore a deleted one."""

from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.edit.conflict import StaleDelete, sent_version
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list import query as queries
from groundtransport.records.sources import SourceTaken, check_sources
from groundtransport.records.urls import edit_url, list_url, sent_query
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.records.writer import Writer
from groundtransport.request import Request
from groundtransport.resources import DeletedRecord, Record
from groundtransport.security import Permission
from groundtransport.web.errors import error

DELETE = "groundtransport:records/templates/delete.jinja2"


@view_defaults(context=Record, permission=Permission.DELETE)
class DeleteViews:
    """The confirmation of a deletion, and the deletion."""

    def __init__(self, context: Record, request: Request) -> None:
        self.request, self.context = request, context
        self.kind: Kind = context.kind

    @view_config(name="delete", request_method="GET", renderer=DELETE)
    def confirm(self) -> dict[str, object]:
        """Render the confirmation."""
        return self.page(queries.query_from_request(self.kind, self.request).state())

    def page(self, state: str) -> dict[str, object]:
        """Return the template values of the confirmation; ``state`` is the query string of the list."""
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
    def delete(self) -> object:
        """Delete the record. Raise StaleDelete if it has changed since the confirmation was shown."""
        if sent_version(self.request) not in (None, self.context.row.version):
            raise StaleDelete(self.context.row)
        state = sent_query(self.request, self.kind).state()
        writer = writer_of(self.request, self.kind)
        label = label_of(self.kind, writer.values(self.context.row), self.context.row.id)
        writer.delete(self.context.row)
        path, can_restore = self.request.context_path(self.context), queries.can_restore(self.kind)
        undo = {"undo_url": f"{path}/restore", "url": f"{path}/history"} if can_restore else {}
        flash(self.request, _("{} was deleted."), name=label, list_state=state, **undo)
        return see_other(list_url(self.request, self.kind, state))


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
    try:
        check_sources(request.dbsession, context.kind, [writer.values(context.row)])
    except SourceTaken as taken:
        return error(request, 422, taken.message)
    writer.restore(context.row)
    _flash_restored(context, request, writer, query)
    return see_other(list_url(request, context.kind, query.state()))


def _flash_restored(context: DeletedRecord, request: Request, writer: Writer, query: queries.ListQuery) -> None:
    """Store the message about a restored record for the next page, with the undo of the restoration."""
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
