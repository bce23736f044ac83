"""The list view of every kind, and the detail view of a record; both read the kind's declaration."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from urllib.parse import quote

from pyramid.renderers import render, render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.accounts.saved_views.models import TITLE_MAX, SavedView
from groundtransport.accounts.saved_views.store import visible
from groundtransport.json_types import JsonObject
from groundtransport.records import urls, validity, verification
from groundtransport.records.bulk import batch
from groundtransport.records.kind import Kind
from groundtransport.records.links import STATE_TITLES, link_fields
from groundtransport.records.list import columns as list_columns
from groundtransport.records.list import locate, pages
from groundtransport.records.list import query as queries
from groundtransport.records.list.detail import (
    detail_dialog,
    shown_doubles,
    shown_fields,
    shown_links,
    verification_state,
)
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.notes.shown import shown_notes
from groundtransport.records.saved_views.urls import view_url
from groundtransport.request import Request
from groundtransport.resources import Collection, Record
from groundtransport.security import Permission
from groundtransport.web.errors import prefers_json, problem

DELETED = "groundtransport:records/templates/deleted.jinja2"


def json_rows(
    request: Request, collection: Collection, query: queries.ListQuery
) -> Callable[[JsonObject, str], JsonObject]:
    """Return a function that completes a row in place and returns it; ``state`` is the query string of its page."""
    kind: Kind = collection.kind
    names, translate = queries.shown_names(request, kind, query), request.translate
    displayed = [node for name, node in kind.fields.items() if name in names and node.shown_as == "display"]

    @cache  # by page: the rows of a slice may be on several pages
    def actions(state: str) -> Callable[[int], dict[str, str]]:
        return actions_of(request, collection, query, state)

    def complete(row: JsonObject, state: str) -> JsonObject:
        row["DT_RowId"] = f"record-{row['id']}"
        if displayed:
            row["display"] = {node.name: translate(node.shown(row[node.name])) for node in displayed}
        row["actions"] = actions(state)(row["id"])
        return row

    return complete


def actions_of(
    request: Request, collection: Collection, query: queries.ListQuery, state: str
) -> Callable[[int], dict[str, str]]:
    """Return a function that maps a record id to its action URLs; ``state`` is the query string of the list's page."""
    if query.deleted:
        return urls.of_deleted_rows(request, collection)
    return urls.of_rows(request, collection, state)


@view_defaults(context=Collection, request_method="GET", permission=Permission.VIEW)
class ListViews:
    """The list as an HTML page, and as DataTables' JSON for the ``ajax`` predicate."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind

    @view_config(ajax=False, renderer="groundtransport:records/templates/list.jinja2")
    def html(self) -> object:
        """Render the page; 422 for a text too long to search for."""
        query, located_id = self.located_query()
        if query.too_long:
            if prefers_json(self.request):
                return self.problem(query)
            self.request.response.status_int = 422
        page = pages.page(self.request.dbsession, self.kind, query)
        actions = actions_of(self.request, self.context, query, page.state)
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
            "not_shown": list(locate.saved_records_not_shown(self.request, self.context, page)),
            "marked": {located_id, *saved},
            "refusals": list_columns.refusals(self.request, self.kind, query),
        }
        if query.deleted:
            return render_to_response(DELETED, values, request=self.request, response=self.request.response)
        return values | self.around(query, page)

    def located_query(self) -> tuple[queries.ListQuery, int]:
        """Return the list query, of the page that holds the record ``find`` if the URL names one, and its id (or 0)."""
        query = queries.query_from_request(self.kind, self.request)
        ids = self.request.GET.getall("find")
        record = self.context.get(ids[0]) if len(ids) == 1 else None
        if not isinstance(record, Record):
            return query, 0
        query = replace(query, deleted=False)
        return locate.page_holding(self.request.dbsession, self.kind, query, record.row.id), record.row.id

    def around(self, query: queries.ListQuery, page: pages.Page) -> dict[str, object]:
        """Return the further template values of the page of live records, and set the ``cells`` of its rows."""
        columns = list_columns.columns(self.request, self.kind, query)
        links = list_columns.link_columns(self.kind, columns)
        badges, mark = list_columns.validity_badges(self.request), list_columns.other_place_badge(self.request)
        for row in page.rows:
            cells = list_columns.cells(columns, links, row)
            if row.get(OTHER_PLACE):
                cells = list_columns.with_mark(self.kind, cells, mark)
            badge = badges.get(row["validity"])
            row["cells"] = list_columns.with_badge(self.kind, cells, row, badge) if badge else cells
        return {
            "columns": columns,
            "link_columns": links,
            "column_title": list_columns.title_of,
            "offered_columns": list_columns.offered(self.kind, columns),
            "verification_states": verification.STATES,
            "validity_states": validity.STATES,
            "validity_badges": badges,
            "default_page_size": queries.default_page_size(self.request),
            "chips": list_columns.chips(self.request, self.kind, query),
            "filter_title": partial(list_columns.filter_title, self.request, self.kind),
            "detail_dialog": detail_dialog(self.request, self.context, page),
            "link_states": STATE_TITLES if link_fields(self.kind) else {},
            "views": [(view, view_url(self.request, self.kind, view)) for view in self.saved_views()],
            "may_share": self.request.has_permission(Permission.VIEWS, self.context),
            "title_max": TITLE_MAX,
            "batch_actions": batch.actions(self.request, self.context),
        }

    def saved_views(self) -> Sequence[SavedView]:
        return visible(self.request.dbsession, self.request.user.user_id, self.kind.name)

    @view_config(ajax=True, renderer="rows")
    def datatables(self) -> object:
        """Return the rows that a DataTables request asks for; 422 for a text too long to search for."""
        query = pages.datatables_query(self.kind, self.request)
        if query.too_long:
            return self.problem(query)
        rows = pages.datatables(self.request.dbsession, self.kind, query, self.request)
        complete = json_rows(self.request, self.context, query)
        for offset, row in enumerate(rows.answer["data"], rows.start):
            complete(row, rows.state(offset))
        return rows.answer

    def problem(self, query: queries.ListQuery) -> Response:
        """Return the 422 problem response to texts too long to search for."""
        errors = list_columns.refusals(self.request, self.kind, query)
        return problem(self.request, 422, " ".join(errors.values()), errors={name: [errors[name]] for name in errors})


@view_config(context=Record, request_method="GET", permission=Permission.VIEW)
def detail(context: Record, request: Request) -> Response:
    """Return the HTML fragment of the details dialog; headers X-Changed-By and X-Changed-At tell the last change."""
    values = {
        "fields": shown_fields(context),
        "kind": context.kind,
        "row": context.row,
        "verification": verification_state(request, context),
        "links": shown_links(request, context, queries.query_from_request(context.kind, request).state()),
        "notes": shown_notes(request, context),
        "doubles": shown_doubles(request, context),
        "state": "",
    }
    request.response.text = render("groundtransport:records/templates/detail.jinja2", values, request=request)
    last = request.last_change(context.kind, context.row)
    if last:
        request.response.headers["X-Changed-By"] = quote(last.actor)
        request.response.headers["X-Changed-At"] = last.at.isoformat(timespec="milliseconds")
    return request.response
