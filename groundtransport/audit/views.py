"""``/admin/activity``: the log, newest first, as a page and as DataTables JSON. Read only."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.audit.query import conditions, read
from groundtransport.i18n import _, translated
from groundtransport.records.fields import Field
from groundtransport.records.list.query import LAST, number, page_numbers, read_slice
from groundtransport.resources import Activity, AnyRecord
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record

# The log's actions, and how a page says them.
ACTIONS = {
    "create": _("create"),
    "update": _("update"),
    "delete": _("delete"),
    "restore": _("restore"),
    "purge": _("purge"),
}
CSV_MAX = 100_000  # entries of one file
HISTORY_MAX = 1_000  # entries of one record on its page
COLUMNS = ("id", "at", "actor", "action", "kind", "record_id", "label", "changes", "batch")  # of the JSON
SHOWN = (*COLUMNS, "version", "address")  # what a page knows besides


def entries(
    dbsession: Session, start: int, length: int, *conditions: ColumnElement[bool], names: tuple[str, ...] = SHOWN
) -> list[dict[str, Any]]:
    """Return entries that fulfil all conditions as plain values, the newest first."""
    columns = [getattr(AdminActivity, name) for name in names]
    wanted = select(*columns).where(*conditions).order_by(AdminActivity.id.desc()).offset(start).limit(length)
    return [dict(row._mapping) for row in dbsession.execute(wanted)]


def in_words(kinds: Mapping[str, Any], entry: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return an entry's changes as people read them: label, old, new. What an airport's name implies is left out."""
    fields: Mapping[str, Field] = kinds[entry["kind"]].fields if entry["kind"] in kinds else {}
    return [
        (fields[name].title, fields[name].shown(pair["old"]), fields[name].shown(pair["new"]))
        for name, pair in entry["changes"].items()
        if name in fields
    ]


def readable(request: Request, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries with their changes in words and the title of their kind."""
    kinds = request.registry["kinds"]
    for entry in found:
        entry["action_word"] = ACTIONS.get(entry["action"], entry["action"])
        entry["words"] = in_words(kinds, entry)
        entry["kind_title"] = kinds[entry["kind"]].title if entry["kind"] in kinds else entry["kind"]
    return found


def for_page(request: Request, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return readable entries that know besides whether their record still has a history to link to."""
    kinds = request.registry["kinds"]
    there = {name: _ids_there(request.dbsession, kind, found) for name, kind in kinds.items()}
    for entry in found:
        entry["is_there"] = entry["record_id"] in there.get(entry["kind"], ())
    return readable(request, found)


def _ids_there(dbsession: Session, kind: Any, found: list[dict[str, Any]]) -> set[int]:
    """Return the ids of a kind's records that are in the table, of those that entries name."""
    ids = {entry["record_id"] for entry in found if entry["kind"] == kind.name}
    return set(dbsession.scalars(select(kind.model.id).where(kind.model.id.in_(ids)))) if ids else set()


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
        page, found = self.query.page, self.count(*self.conditions)
        current, last = page_numbers(page, found)
        shown = entries(self.dbsession, (current - 1) * page.page_size, page.page_size, *self.conditions)
        shown = for_page(self.request, shown)
        return {
            "entries": shown,
            "total": found,
            "number": current,
            "last": last,
            "query": self.query,
            "actions": ACTIONS,
            "csv_max": CSV_MAX,
        }

    @view_config(ajax=True, renderer="json")
    def datatables(self) -> dict[str, Any]:
        sent = self.request.GET.dict_of_lists()
        part = read_slice(sent, self.query.page)
        total, filtered = self.count(), self.count(*self.conditions)
        is_last = self.query.page.page_no == LAST and "start" not in sent
        start = max(0, (filtered - 1) // part.length * part.length) if is_last else part.start
        found = entries(self.dbsession, start, part.length, *self.conditions, names=COLUMNS)
        return {"draw": part.draw, "recordsTotal": total, "recordsFiltered": filtered, "data": found}

    @view_config(name="csv")
    def csv(self) -> Response:
        """The entries of the query as a file, the newest first; a change a line, in words."""
        found = readable(self.request, entries(self.dbsession, 0, CSV_MAX, *self.conditions))
        record(self.request, Event.EXPORT, what="activity log", entries=len(found))
        return csv_response("activity.csv", as_csv(found))


HEADER = ("number", "time (UTC)", "person", "action", "kind", "record", "name", "field", "old", "new", "batch")


def as_csv(found: list[dict[str, Any]]) -> str:
    """Return entries as CSV, a change a line."""
    return csv_of(HEADER, (cells for entry in found for cells in _lines(entry)))


def _lines(entry: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    facts = [translated(entry[name]) for name in ("id", "at", "actor", "action", "kind_title", "record_id", "label")]
    for words in entry["words"] or [("", "", "")]:
        yield (*facts, *map(translated, words), entry["batch"])


def csv_of(header: tuple[str, ...], lines: Iterable[tuple[object, ...]]) -> str:
    """Return lines as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows([inert(str(cell)) for cell in line] for line in lines)
    return out.getvalue()


def csv_response(name: str, text: str) -> Response:
    """Return a CSV file to be saved under a name."""
    response = Response(text, content_type="text/csv", charset="utf-8")
    response.content_disposition = f'attachment; filename="{name}"'
    return response


# What a spreadsheet takes for the beginning of a formula; the wide signs are those of East Asian keyboards.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def inert(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


@view_config(
    context=AnyRecord,
    name="history",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:audit/templates/history.jinja2",
)
def history(context: AnyRecord, request: Request) -> dict[str, Any]:
    """Every entry of one record, live or deleted, newest first; with ``version``, that one beside what it says now."""
    same = (AdminActivity.kind == context.kind.name, AdminActivity.record_id == context.row.id)
    found = for_page(request, entries(request.dbsession, 0, HISTORY_MAX, *same))
    version = number(request.GET.get("version", ""))
    then = request.values_at(context.kind, context.row, version) if version else None
    return {
        "kind": context.kind,
        "row": context.row,
        "label": found[0]["label"] if found else context.row.airport_name,
        "entries": found,
        "version": version,
        "then": then,
        "may_restore": bool(request.has_permission(Permission.RESTORE, context)),
    }
