"""The URLs of records and lists, with the state of the list in the query."""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from groundtransport.records.kind import Kind
from groundtransport.records.list import query as queries
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission, edit_keys
from groundtransport.web.form_data import submitted

STATE_NAMES = ("page_no", "page_size", "sort", "q")  # of the list's state in a form, besides filters, which name fields


def list_url(request: Request, kind: Kind, state: str) -> str:
    """Return the URL of a kind's list; ``state`` is its query string."""
    return f"/admin/{kind.name}?{state}" if state else f"/admin/{kind.name}"


def sent_query(request: Request, kind: Kind) -> queries.ListQuery:
    """Return the list query that a write carries in the form field ``list_state``.

    Without that field, take it from the query string, and ``STATE_NAMES`` that are no record fields from the form;
    the form wins.
    """
    form, size = submitted(request, ("list_state",)), queries.default_page_size(request)
    days = queries.due_days(request, kind)
    if "list_state" in form:
        return queries.query_from_state(kind, form["list_state"], size, days)
    values: dict[str, list[str]] = request.GET.dict_of_lists()
    for name in STATE_NAMES:
        if name in request.POST and name not in kind.fields:
            values[name] = [text for text in request.POST.getall(name) if isinstance(text, str)]
    return queries.read_query(kind, values, size, days)


def edit_url(request: Request, kind: Kind, record_id: int, state: str) -> str:
    """Return the URL of a record's edit form, with the edit key of the signed-in user."""
    return edit_urls(request, kind, state)(record_id)


def edit_urls(request: Request, kind: Kind, state: str) -> Callable[[int], str]:
    """Return a function that maps a record id to the URL of its edit form."""
    key_of = edit_keys(request.registry["settings"].secrets[0], request.user, kind.name)
    suffix = f"&{state}" if state else ""
    return lambda record_id: f"/admin/{kind.name}/{record_id}/edit?key={key_of(record_id)}{suffix}"


def review_state(request: Request) -> str:
    """Return the place in the review queue from which a form was opened, as a query string; "" for none."""
    is_read = request.method in ("GET", "HEAD")
    text = request.GET.get("review") if is_read else submitted(request, ("review",)).get("review")
    return urlencode(parse_qsl((text or "")[: queries.STATE_MAX], errors="replace"))


def create_url(kind: Kind, state: str, **source: int) -> str:
    """Return the URL of the form for a new record; ``near`` or ``copy`` is the id of the record to copy from."""
    query = "&".join(filter(None, (urlencode(source), state)))
    return f"/admin/{kind.name}/create?{query}" if query else f"/admin/{kind.name}/create"


def of_deleted_rows(request: Request, collection: Collection) -> Callable[[int], dict[str, str]]:
    """Return a function that maps the id of a deleted record to its permitted action URLs, by name."""
    may_restore = request.has_permission(Permission.RESTORE, collection)

    def of_row(record_id: int) -> dict[str, str]:
        url = f"/admin/{collection.kind.name}/{record_id}"
        return {"history": f"{url}/history"} | ({"restore": f"{url}/restore"} if may_restore else {})

    return of_row


def of_rows(request: Request, collection: Collection, state: str) -> Callable[[int], dict[str, str]]:
    """Return a function that maps a record id to its permitted action URLs, by name. Permissions are checked once."""
    kind, suffix = collection.kind, f"?{state}" if state else ""
    edit_of = edit_urls(request, kind, state)
    may_edit = request.has_permission(Permission.EDIT, collection)
    may_delete = request.has_permission(Permission.DELETE, collection)

    def of_row(record_id: int) -> dict[str, str]:
        url = f"/admin/{kind.name}/{record_id}"
        urls = {"view": url}
        if may_edit:
            urls["edit"] = edit_of(record_id)
            urls["verify"] = f"{url}/verify"
        if may_delete:
            urls["delete"] = f"{url}/delete{suffix}"
        return urls

    return of_row
