"""The list of every kind, and the detail of a record. They read the kind's declaration."""

from typing import Any

from pyramid.renderers import render, render_to_response
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.records import listing
from groundtransport.records import query as queries
from groundtransport.records.links import actions, deleted_actions
from groundtransport.resources import Collection, Record
from groundtransport.security import Permission

DELETED = "groundtransport:records/templates/deleted.jinja2"


@view_defaults(context=Collection, request_method="GET", permission=Permission.VIEW)
class ListViews:
    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    @view_config(ajax=False, renderer="groundtransport:records/templates/list.jinja2")
    def html(self) -> Any:
        query = queries.of_request(self.kind, self.request)
        page = listing.page(self.request.dbsession, self.kind, query)
        state = query.state(page_no=str(page.number)) if query.page_no else query.state()
        for row in page.rows:
            row["actions"] = self.actions(query, row["id"], state)
        values = {"kind": self.kind, "page": page, "query": query, "context": self.context, "state": state}
        values["can_restore"] = queries.can_restore(self.kind)
        return render_to_response(DELETED, values, request=self.request) if query.deleted else values

    def actions(self, query: queries.ListQuery, record_id: int, state: str) -> dict[str, str]:
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


@view_config(context=Record, request_method="GET", permission=Permission.VIEW)
def detail(context: Record, request: Request) -> Response:
    """The fragment for the dialog: only the fields that have a value."""
    fields = [(node, value) for name, node in context.kind.fields.items() if (value := getattr(context.row, name))]
    values = {"fields": fields, "kind": context.kind}
    request.response.text = render("groundtransport:records/templates/detail.jinja2", values, request=request)
    return request.response
