"""The record whose details are shown over the list: the URL's ``view`` is its id, or ``first`` or ``last``."""

from dataclasses import dataclass, field

from groundtransport.records import verification
from groundtransport.records.doubles.urls import pairs_url
from groundtransport.records.duplicates import pair_list
from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.kind import label_of
from groundtransport.records.links import ShownCheck
from groundtransport.records.list import pages
from groundtransport.records.list.query import ListQuery, due_days
from groundtransport.records.notes.shown import ShownNotes, shown_notes
from groundtransport.records.urls import edit_url, list_url, of_rows
from groundtransport.request import Request
from groundtransport.resources import AnyRecord, Collection, DeletedRecord, MergedRecord, Record
from groundtransport.security import Permission

ENDS = {"first": 0, "last": -1}


PROPOSED = "proposed"  # the parameter of an edit URL: the form begins with the new URLs of links that have moved


@dataclass(frozen=True)
class LinkChecks:
    """The links of a record with their last checks. The URLs are "" without the permission to edit."""

    checks: list[ShownCheck]
    check_url: str
    propose_url: str  # of the form with the new URLs of links that have moved; "" if there is none
    state: str


@dataclass(frozen=True)
class DoublesLink:
    """The number of pairs of possible doubles with a record, and their URL."""

    number: int
    url: str


@dataclass(frozen=True)
class DetailDialog:
    """The content of the details dialog. ``row`` is None if there is no such live record."""

    record_id: str  # the record's id, or the unparsed ``view``
    row: object = None
    label: str = ""
    fields: list[tuple[object, object]] = field(default_factory=list)
    verification: str = ""  # the state: one of verification.STATES
    links: LinkChecks | None = None
    notes: ShownNotes | None = None
    doubles: DoublesLink | None = None
    last: object = None  # the log entry of the last change
    actions: dict[str, str] = field(default_factory=dict)
    history: str = ""  # URL; also set for a deleted record
    place: int = 0  # position in the result, from 1; 0 if it is not on this page
    previous: str = ""
    next: str = ""
    merged_into: int = 0  # the id of the record that stands for a merged one


def shown_fields(context: AnyRecord) -> list[tuple[object, object]]:
    """Return pairs of field and value, without None."""
    values = ((node, getattr(context.row, name)) for name, node in context.kind.fields.items())
    return [(node, value) for node, value in values if value is not None]


def verification_state(request: Request, context: AnyRecord) -> str:
    """Return which of ``verification.STATES`` a record is in."""
    return verification.state_of(context.row.verified_at, due_days(request, context.kind))


def shown_links(request: Request, context: AnyRecord, state: str) -> LinkChecks | None:
    """Return the links of a record with their checks, None if it has none; ``state`` is the list's query string."""
    kind, row = context.kind, context.row
    checks = request.link_checks(kind, row)
    if not checks:
        return None
    may_edit = request.has_permission(Permission.EDIT, context)
    edit = edit_url(request, kind, row.id, state) if may_edit and any(check.is_moved for check in checks) else ""
    url = f"{request.context_path(context)}/check-link" if may_edit else ""
    return LinkChecks(checks, url, f"{edit}&{PROPOSED}=1" if edit else "", state)


def shown_doubles(request: Request, context: AnyRecord) -> DoublesLink | None:
    """Return the link to the possible doubles of a record; None if there are none."""
    query = PairQuery(record=context.row.id)
    number = pair_list.count(request.dbsession, context.kind, query)
    return DoublesLink(number, pairs_url(context.kind, query)) if number else None


def detail_dialog(request: Request, collection: Collection, page: pages.Page) -> DetailDialog | None:
    """Return the details of the record that the URL names; None if it names none."""
    views = request.GET.getall("view")
    if len(views) != 1 or page.query.deleted:
        return None
    ids = [row["id"] for row in page.rows]
    record_id = str(ids[ENDS[views[0]]]) if views[0] in ENDS and ids else views[0]
    context = collection.get(record_id)
    if not isinstance(context, Record) or not request.has_permission(Permission.VIEW, context):
        is_deleted = isinstance(context, DeletedRecord)
        survivor = context.row.merged_into if isinstance(context, MergedRecord) else 0
        history = f"{request.context_path(context)}/history" if is_deleted else ""
        return DetailDialog(record_id, history=history, merged_into=survivor)
    row = context.row
    values = {name: getattr(row, name) for name in collection.kind.fields}
    place = ids.index(row.id) if row.id in ids else None
    before, after = ("", "") if place is None else _neighbors(request, collection, page, place)
    return DetailDialog(
        str(row.id),
        row,
        label_of(collection.kind, values, row.id),
        shown_fields(context),
        verification_state(request, context),
        shown_links(request, context, page.state),
        shown_notes(request, context),
        shown_doubles(request, context),
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
