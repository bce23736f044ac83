"""``/admin/activity``: the log, newest first, as a page and as DataTables JSON. Read only."""

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request
from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.records.fields import Field
from groundtransport.records.listing import ListQuery, page_numbers, read_page, read_slice
from groundtransport.resources import Activity, AnyRecord
from groundtransport.security import Permission

HISTORY_MAX = 1_000  # entries of one record on its page
COLUMNS = ("id", "at", "actor", "action", "kind", "record_id", "label", "changes", "batch")


def entries(dbsession: Session, start: int, length: int, *conditions: ColumnElement[bool]) -> list[dict[str, Any]]:
    """Return entries that fulfil all conditions as plain values, the newest first."""
    columns = [getattr(AdminActivity, name) for name in COLUMNS]
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


def for_people(kinds: Mapping[str, Any], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries with what a page shows besides: their changes in words, and the title of their kind."""
    for entry in found:
        entry["words"] = in_words(kinds, entry)
        entry["kind_title"] = kinds[entry["kind"]].title if entry["kind"] in kinds else entry["kind"]
    return found


@view_defaults(context=Activity, request_method="GET", permission=Permission.VIEW)
class ActivityViews:
    def __init__(self, context: Activity, request: Request) -> None:
        self.request = request
        self.dbsession = request.dbsession
        self.total = self.dbsession.scalar(select(func.count()).select_from(AdminActivity)) or 0
        self.query: ListQuery = read_page(request.GET.dict_of_lists(), request.registry["settings"].page_size)

    @view_config(ajax=False, renderer="groundtransport:audit/templates/activity.jinja2")
    def html(self) -> dict[str, Any]:
        number, last = page_numbers(self.query, self.total)
        found = entries(self.dbsession, (number - 1) * self.query.page_size, self.query.page_size)
        found = for_people(self.request.registry["kinds"], found)
        return {"entries": found, "total": self.total, "number": number, "last": last, "query": self.query}

    @view_config(ajax=True, renderer="json")
    def datatables(self) -> dict[str, Any]:
        part = read_slice(self.request.GET.dict_of_lists(), self.query)
        found = entries(self.dbsession, part.start, part.length)
        return {"draw": part.draw, "recordsTotal": self.total, "recordsFiltered": self.total, "data": found}


@view_config(
    context=AnyRecord,
    name="history",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:audit/templates/history.jinja2",
)
def history(context: AnyRecord, request: Request) -> dict[str, Any]:
    """Every entry of one record, live or deleted, newest first."""
    same = (AdminActivity.kind == context.kind.name, AdminActivity.record_id == context.row.id)
    found = entries(request.dbsession, 0, HISTORY_MAX, *same)
    label = found[0]["label"] if found else context.row.airport_name
    values = {"kind": context.kind, "row": context.row, "label": label}
    return {**values, "entries": for_people(request.registry["kinds"], found)}
