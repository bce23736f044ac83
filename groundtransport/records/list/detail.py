"""The record whose details are shown over the list: the URL's ``view`` is its id, or ``first`` or ``last``."""

from dataclasses import dataclass, field
from typing import Any

from pyramid.request import Request

from groundtransport.records.kind import label_of
from groundtransport.records.list import pages
from groundtransport.records.list.query import ListQuery
from groundtransport.records.urls import list_url, of_rows
from groundtransport.resources import AnyRecord, Collection, DeletedRecord, Record
from groundtransport.security import Permission

ENDS = {"first": 0, "last": -1}


@dataclass(frozen=True)
class Viewed:
    """The content of the details dialog. ``row`` is None if there is no such live record."""

    asked: str  # the record's id, or the unparsed ``view``
    row: Any = None
    label: str = ""
    fields: list[tuple[Any, Any]] = field(default_factory=list)
    last: Any = None  # the log entry of the last change
    actions: dict[str, str] = field(default_factory=dict)
    history: str = ""  # URL; also set for a deleted record
    place: int = 0  # position in the result, from 1; 0 if it is not on this page
    previous: str = ""
    next: str = ""


def shown_fields(context: AnyRecord) -> list[tuple[Any, Any]]:
    """Return pairs of field and value, without None."""
    values = ((node, getattr(context.row, name)) for name, node in context.kind.fields.items())
    return [(node, value) for node, value in values if value is not None]


def viewed(request: Request, collection: Collection, page: pages.Page) -> Viewed | None:
    """Return the details of the record that the URL names; None if it names none."""
    views = request.GET.getall("view")
    if len(views) != 1 or page.query.deleted:
        return None
    ids = [row["id"] for row in page.rows]
    record_id = str(ids[ENDS[views[0]]]) if views[0] in ENDS and ids else views[0]
    context = collection.get(record_id)
    if not isinstance(context, Record) or not request.has_permission(Permission.VIEW, context):
        is_deleted = isinstance(context, DeletedRecord)
        return Viewed(record_id, history=f"{request.context_path(context)}/history" if is_deleted else "")
    row = context.row
    values = {name: getattr(row, name) for name in collection.kind.fields}
    place = ids.index(row.id) if row.id in ids else None
    before, after = ("", "") if place is None else _neighbors(request, collection, page, place)
    return Viewed(
        str(row.id),
        row,
        label_of(collection.kind, values, row.id),
        shown_fields(context),
        request.last_change(collection.kind, row),
        of_rows(request, collection, page.state)(row.id),
        f"{request.context_path(context)}/history",
        0 if place is None or page.is_end else page.first_row + place,
        before,
        after,
    )


def _neighbors(request: Request, collection: Collection, page: pages.Page, place: int) -> tuple[str, str]:
    """Return the URLs of the previous and the next record, also on adjacent pages; "" at the ends of the list."""

    def at(view: object, query: ListQuery, number: int) -> str:
        """Return the URL that shows record ``view`` over page ``number``."""
        state = query.state(page_no=str(number)) if number > 1 or query.page_no else query.state()
        return list_url(request, collection.kind, f"{state}&view={view}".removeprefix("&"))

    query, number, rows = page.query, page.number, page.rows
    before = at("last", query, number - 1) if number > 1 else ""
    after = at("first", query, number + 1) if number < page.last else ""
    if place > 0:
        before = at(rows[place - 1]["id"], query, number)
    if place < len(rows) - 1:
        after = at(rows[place + 1]["id"], query, number)
    return before, after
