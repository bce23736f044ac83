"""``/admin/activity``: the activity log as a page and as DataTables JSON; and the history of a record."""

from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, func, select

from groundtransport.audit.entries import (
    ACTIONS,
    JSON_COLUMNS,
    field_titles,
    page_entries,
    rows,
)
from groundtransport.audit.models import AdminActivity
from groundtransport.audit.query import conditions, periods, read
from groundtransport.db import now
from groundtransport.records.list.query import LAST, page_numbers, parse_int, read_slice
from groundtransport.records.sources import merged_ids
from groundtransport.request import Request
from groundtransport.resources import Activity, AnyRecord
from groundtransport.security import Permission

HISTORY_MAX = 1_000  # entries of a record's history


@view_defaults(context=Activity, request_method="GET", permission=Permission.VIEW)
class ActivityViews:
    """The activity log, as a page and as JSON."""

    def __init__(self, context: Activity, request: Request) -> None:
        self.request = request
        self.dbsession = request.dbsession
        self.query = read(request.GET.dict_of_lists(), request.registry["settings"].page_size)
        self.conditions = conditions(self.query)

    def count(self, *conditions: ColumnElement[bool]) -> int:
        """Return the number of entries that meet all conditions."""
        return self.dbsession.scalar(select(func.count()).select_from(AdminActivity).where(*conditions)) or 0

    @view_config(ajax=False, renderer="groundtransport:audit/templates/activity.jinja2")
    def html(self) -> dict[str, object]:
        """Render a page of entries with the filters."""
        page, total = self.query.page, self.count(*self.conditions)
        current, last = page_numbers(page, total)
        entry_rows = rows(self.dbsession, (current - 1) * page.page_size, page.page_size, *self.conditions)
        return {
            "entries": page_entries(self.request, entry_rows),
            "total": total,
            "number": current,
            "last": last,
            "query": self.query,
            "actions": ACTIONS,
            "fields": field_titles(self.request),
            "periods": periods(self.query, now().date()),
            "may_export": bool(self.request.has_permission(Permission.EXPORT)),
        }

    @view_config(ajax=True, renderer="json")
    def datatables(self) -> dict[str, object]:
        """Return the entries that a DataTables request asks for."""
        params = self.request.GET.dict_of_lists()
        part = read_slice(params, self.query.page)
        total, filtered = self.count(), self.count(*self.conditions)
        is_last = self.query.page.page_no == LAST and "start" not in params
        start = max(0, (filtered - 1) // part.length * part.length) if is_last else part.start
        data = rows(self.dbsession, start, part.length, *self.conditions, names=JSON_COLUMNS)
        return {"draw": part.draw, "recordsTotal": total, "recordsFiltered": filtered, "data": data}


@view_config(
    context=AnyRecord,
    name="history",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:audit/templates/history.jinja2",
)
def history(context: AnyRecord, request: Request) -> dict[str, object]:
    """Show the entries of a record and of those that were merged into it, newest first.

    With ``version``, show that version beside the current one.
    """
    ids = [context.row.id, *merged_ids(request.dbsession, context.kind, context.row.id)]
    of_record = (AdminActivity.kind == context.kind.name, AdminActivity.record_id.in_(ids))
    entries = page_entries(request, rows(request.dbsession, 0, HISTORY_MAX, *of_record))
    version = parse_int(request.GET.get("version", ""))
    then = request.values_at(context.kind, context.row, version) if version else None
    return {
        "kind": context.kind,
        "row": context.row,
        "merged": ids[1:],
        "label": entries[0].label if entries else context.row.airport_name,
        "entries": entries,
        "version": version,
        "then": then,
        "may_restore": bool(request.has_permission(Permission.RESTORE, context)),
    }
