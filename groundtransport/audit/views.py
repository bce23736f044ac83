"""``/admin/activity``: the activity log as a page, as DataTables JSON and as CSV; and the history of a record."""

from collections.abc import Iterator
from typing import Any

from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, func, select

from groundtransport.audit.entries import (
    ACTIONS,
    JSON_COLUMNS,
    ShownChange,
    ShownEntry,
    page_entries,
    rows,
    shown_entries,
)
from groundtransport.audit.models import AdminActivity
from groundtransport.audit.query import conditions, read
from groundtransport.i18n import translated
from groundtransport.records.list.query import LAST, number, page_numbers, read_slice
from groundtransport.resources import Activity, AnyRecord
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.csv_download import csv_response, csv_text

CSV_MAX = 100_000  # entries of a file
HISTORY_MAX = 1_000  # entries of a record's history
HEADER = ("number", "time (UTC)", "person", "action", "kind", "record", "name", "field", "old", "new", "batch")


@view_defaults(context=Activity, request_method="GET", permission=Permission.VIEW)
class ActivityViews:
    def __init__(self, context: Activity, request: Request) -> None:
        self.request = request
        self.dbsession = request.dbsession
        self.query = read(request.GET.dict_of_lists(), request.registry["settings"].page_size)
        self.conditions = conditions(self.query)

    def count(self, *conditions: ColumnElement[bool]) -> int:
        return self.dbsession.scalar(select(func.count()).select_from(AdminActivity).where(*conditions)) or 0

    @view_config(ajax=False, renderer="groundtransport:audit/templates/activity.jinja2")
    def html(self) -> dict[str, Any]:
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
            "csv_max": CSV_MAX,
        }

    @view_config(ajax=True, renderer="json")
    def datatables(self) -> dict[str, Any]:
        params = self.request.GET.dict_of_lists()
        part = read_slice(params, self.query.page)
        total, filtered = self.count(), self.count(*self.conditions)
        is_last = self.query.page.page_no == LAST and "start" not in params
        start = max(0, (filtered - 1) // part.length * part.length) if is_last else part.start
        data = rows(self.dbsession, start, part.length, *self.conditions, names=JSON_COLUMNS)
        return {"draw": part.draw, "recordsTotal": total, "recordsFiltered": filtered, "data": data}

    @view_config(name="csv")
    def csv(self) -> Response:
        """Return the newest CSV_MAX entries of the query as CSV, one line for each changed field."""
        entries = shown_entries(self.request, rows(self.dbsession, 0, CSV_MAX, *self.conditions))
        record(self.request, Event.EXPORT, what="activity log", entries=len(entries))
        return csv_response("activity.csv", as_csv(entries))


def as_csv(entries: list[ShownEntry]) -> str:
    """Return entries as CSV, one line for each changed field."""
    return csv_text(HEADER, (cells for entry in entries for cells in _lines(entry)))


def _lines(entry: ShownEntry) -> Iterator[tuple[object, ...]]:
    columns: tuple[Any, ...] = (
        entry.id,
        entry.at,
        entry.actor,
        entry.action,
        entry.kind_title,
        entry.record_id,
        entry.label,
    )
    for change in entry.shown_changes or [ShownChange("", "", "")]:
        yield (*(translated(value) for value in columns), *(translated(text) for text in change), entry.batch)


@view_config(
    context=AnyRecord,
    name="history",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:audit/templates/history.jinja2",
)
def history(context: AnyRecord, request: Request) -> dict[str, Any]:
    """Show the entries of a record, newest first; with ``version``, that version beside the current one."""
    of_record = (AdminActivity.kind == context.kind.name, AdminActivity.record_id == context.row.id)
    entries = page_entries(request, rows(request.dbsession, 0, HISTORY_MAX, *of_record))
    version = number(request.GET.get("version", ""))
    then = request.values_at(context.kind, context.row, version) if version else None
    return {
        "kind": context.kind,
        "row": context.row,
        "label": entries[0].label if entries else context.row.airport_name,
        "entries": entries,
        "version": version,
        "then": then,
        "may_restore": bool(request.has_permission(Permission.RESTORE, context)),
    }
