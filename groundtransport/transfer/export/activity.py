"""``/admin/activity/csv`` and ``/admin/security/csv``: the two logs as files, without an end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from pyramid.response import Response
from pyramid.view import view_config
from sqlalchemy import ColumnElement, Connection, select

from groundtransport.audit import query as activity_query
from groundtransport.audit import security_views
from groundtransport.audit.entries import COLUMNS, ShownChange, shown_entries
from groundtransport.audit.models import AdminActivity
from groundtransport.i18n import translated
from groundtransport.records.kind import Kind
from groundtransport.request import Request
from groundtransport.resources import Activity, Security
from groundtransport.security import Permission
from groundtransport.security_log.events import Entry, Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.security_log.recording import make_entry
from groundtransport.transfer.export.columns import Column
from groundtransport.transfer.export.formats import Format, Layout, write_rows
from groundtransport.transfer.export.response import download
from groundtransport.transfer.export.rows import CHUNK, Rows
from groundtransport.transfer.export.stream import Export

ACTIVITY = (
    "number",
    "time (UTC)",
    "person",
    "action",
    "kind",
    "record",
    "name",
    "field",
    "old",
    "new",
    "batch",
    "token",
)
SECURITY = ("number", "time (UTC)", "event", "person", "about", "address", "request", "details")


def layout_of(header: Sequence[str], *, has_bom: bool = False, has_guard: bool = True) -> Layout:
    """Return the layout of a log's file, whose columns have no other names than their headers."""
    return Layout([Column(name, name, text=str) for name in header], header, has_bom, has_guard)


def read_newest_first(
    connection: Connection,
    model: Any,
    names: Sequence[str],
    conditions: Sequence[ColumnElement[bool]],
    rows_of: Callable[[Sequence[object]], Rows],
) -> Iterator[Rows]:
    """Yield the rows that ``rows_of`` makes of the columns ``names`` of a log's entries, by keyset on the id."""
    statement = select(*(getattr(model, name) for name in names)).where(*conditions)
    statement = statement.order_by(model.id.desc()).limit(CHUNK)
    entries = connection.execute(statement).all()
    while entries:
        yield rows_of(entries)
        entries = connection.execute(statement.where(model.id < entries[-1].id)).all() if len(entries) == CHUNK else []


def activity_rows(kinds: Mapping[str, Kind], entries: Sequence[Any]) -> Rows:
    """Return the lines of entries of the activity log, one for each changed field."""
    lines: list[tuple[object, ...]] = []
    for entry in shown_entries(kinds, [dict(row._mapping) for row in entries]):
        first = (entry.id, entry.at, entry.actor, entry.action, translated(entry.kind_title), entry.record_id)
        for change in entry.shown_changes or [ShownChange("", "", "")]:
            lines.append((*first, entry.label, *map(translated, change), entry.batch, entry.token))
    return lines


def read_activity(
    connection: Connection, kinds: Mapping[str, Kind], query: activity_query.ActivityQuery
) -> Iterator[Rows]:
    """Yield the lines of the entries that match a query."""
    conditions = activity_query.conditions(query)
    return read_newest_first(connection, AdminActivity, COLUMNS, conditions, partial(activity_rows, kinds))


def export_of(
    kinds: Mapping[str, Kind], query: activity_query.ActivityQuery, file_format: Format, layout: Layout, entry: Entry
) -> Export:
    """Return the export of the activity log's entries that match a query."""
    read = partial(read_activity, kinds=kinds, query=query)
    write = partial(write_rows, file_format, layout)
    return Export(read, write, entry, query.state(page_no="", page_size=""))


def security_rows(events: Sequence[Any]) -> Rows:
    """Return the lines of events of the security log."""
    return [(*event[:-1], ", ".join(f"{name}: {value}" for name, value in event.details.items())) for event in events]


def read_security(connection: Connection, query: security_views.SecurityQuery) -> Iterator[Rows]:
    """Yield the lines of the events that match a query."""
    names = ("id", "at", "event", "name", "about", "address", "request_id", "details")
    return read_newest_first(connection, SecurityEvent, names, security_views.conditions(query), security_rows)


@view_config(context=Activity, name="csv", request_method="GET", permission=Permission.EXPORT)
def activity_csv(context: Activity, request: Request) -> Response:
    """Return the entries of the query as CSV."""
    query = activity_query.read(request.GET.dict_of_lists(), request.registry["settings"].page_size)
    entry = make_entry(request, Event.EXPORT, what="activity log", format=Format.CSV)
    export = export_of(request.registry["kinds"], query, Format.CSV, layout_of(ACTIVITY), entry)
    return download(request, export, Format.CSV, "activity")


@view_config(context=Security, name="csv", request_method="GET", permission=Permission.SECURITY)
def security_csv(context: Security, request: Request) -> Response:
    """Return the events of the query as CSV."""
    query = security_views.read(request.GET.dict_of_lists(), request.registry["settings"].page_size)
    entry = make_entry(request, Event.EXPORT, what="security log", format=Format.CSV)
    read, write = partial(read_security, query=query), partial(write_rows, Format.CSV, layout_of(SECURITY))
    return download(request, Export(read, write, entry, urlencode(query.filters)), Format.CSV, "security")
