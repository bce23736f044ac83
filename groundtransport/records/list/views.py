"""The list view of every kind, and the detail view of a record; both read the kind's declaration."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any
from urllib.parse import quote

from pyramid.renderers import render, render_to_response
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.records import urls
from groundtransport.records.bulk import batch
from groundtransport.records.list import columns as list_columns
from groundtransport.records.list import locate, pages
from groundtransport.records.list import query as queries
from groundtransport.records.list.detail import shown_fields, viewed
from groundtransport.resources import Collection, Record
from groundtransport.security import Permission
from groundtransport.web.errors import prefers_json, problem

DELETED = "groundtransport:records/templates/deleted.jinja2"


@view_defaults(context=Collection, request_method="GET", permission=Permission.VIEW)
class ListViews:
    """The list as an HTML page, and as DataTables' JSON for the ``ajax`` predicate."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    @view_config(ajax=False, renderer="groundtransport:records/templates/list.jinja2")
    def html(self) -> Any:
        query, located_id = self.located_query()
        if query.too_long:
            if prefers_json(self.request):
                return self.problem(query)
            self.request.response.status_int = 422
        page = pages.page(self.request.dbsession, self.kind, query, pages.Beside.of(self.request))
        actions = self.actions(query, page.state)
        for row in page.rows:
            row["actions"] = actions(row["id"])
        saved = locate.saved(self.request, self.kind)
        values = {
            "kind": self.kind,
            "page": page,
            "query": query,
            "context": self.context,
            "state": page.state,
            "can_restore": queries.can_restore(self.kind),
            "elsewhere": list(locate.elsewhere(self.request, self.context, page)),
            "marked": {located_id, *saved},
            "refusals": list_columns.refusals(self.request, self.kind, query),
        }
        if query.deleted:
            return render_to_response(DELETED, values, request=self.request, response=self.request.response)
        return values | self.around(query, page)

    def located_query(self) -> tuple[queries.ListQuery, int]:
        """Return the list query, of the page that holds the record ``find`` if the URL names one, and its id (or 0)."""
        query = queries.of_request(self.kind, self.request)
        ids = self.request.GET.getall("find")
        record = self.context.get(ids[0]) if len(ids) == 1 else None
        if not isinstance(record, Record):
            return query, 0
        query = replace(query, deleted=False)
        return locate.page_with(self.request.dbsession, self.kind, query, record.row.id), record.row.id

    def around(self, query: queries.ListQuery, page: pages.Page) -> dict[str, Any]:
        """Return the further template values of the page of live records, and set the ``cells`` of its rows."""
        columns = list_columns.columns(self.request, self.kind, query)
        for row in page.rows:
            row["cells"] = list_columns.cells(columns, row)
        return {
            "columns": columns,
            "column_title": list_columns.column_title,
            "usual_size": queries.usual_size(self.request),
            "chips": list_columns.chips(self.request, self.kind, query),
            "filter_title": partial(list_columns.filter_title, self.request, self.kind),
            "viewed": viewed(self.request, self.context, page),
            "batch_actions": batch.actions(self.request, self.context),
        }

    def actions(self, query: queries.ListQuery, state: str) -> Callable[[int], dict[str, str]]:
        """Return a function that maps a record id to its action URLs."""
        if query.deleted:
            return urls.of_deleted_rows(self.request, self.context)
        return urls.of_rows(self.request, self.context, state)

    @view_config(ajax=True, renderer="rows")
    def datatables(self) -> Any:
        query = pages.of_datatables(self.kind, self.request)
        if query.too_long:
            return self.problem(query)
        rows = pages.datatables(self.request.dbsession, self.kind, query, self.request)
        displayed = [node for node in self.kind.fields.values() if node.shown_as == "display"]
        translate = self.request.translate
        actions = cache(partial(self.actions, query))  # by page state: the rows of a slice may be on several pages
        for offset, row in enumerate(rows.answer["data"], rows.start):
            row["DT_RowId"] = f"record-{row['id']}"
            if displayed:
                row["display"] = {node.name: translate(node.shown(row[node.name])) for node in displayed}
            row["actions"] = actions(rows.state(offset))(row["id"])
        return rows.answer

    def problem(self, query: queries.ListQuery) -> Response:
        """Return the 422 problem response to texts too long to search for."""
        errors = list_columns.refusals(self.request, self.kind, query)
        return problem(self.request, 422, " ".join(errors.values()), errors={name: [errors[name]] for name in errors})


@view_config(context=Record, request_method="GET", permission=Permission.VIEW)
def detail(context: Record, request: Request) -> Response:
    """Return the HTML fragment of the details dialog; headers X-Changed-By and X-Changed-At tell the last change."""
    values = {"fields": shown_fields(context), "kind": context.kind}
    request.response.text = render("groundtransport:records/templates/detail.jinja2", values, request=request)
    last = request.last_change(context.kind, context.row)
    if last:
        request.response.headers["X-Changed-By"] = quote(last.actor)
        request.response.headers["X-Changed-At"] = last.at.isoformat(timespec="milliseconds")
    return request.response
