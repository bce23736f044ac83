"""The addresses of records and lists, with the list's state in them."""

from collections.abc import Callable
from urllib.parse import urlencode

from pyramid.request import Request

from groundtransport.records.kind import Kind
from groundtransport.records.list import query as queries
from groundtransport.resources import Collection
from groundtransport.security import Permission, edit_keys
from groundtransport.web.form_data import submitted

OF_FORMS = ("page_no", "page_size", "sort", "q")  # names of the list's state; the filters share theirs with fields


def list_url(request: Request, kind: Kind, state: str) -> str:
    """Return the address of a kind's list in that state."""
    return f"/admin/{kind.name}?{state}" if state else f"/admin/{kind.name}"


def sent_query(request: Request, kind: Kind) -> queries.ListQuery:
    """Return the list's query that travelled with a write: its ``list_state``.

    Where a client sends none, the names of the state count in the write's query, and those that are no field of the
    record in its form, before the others.
    """
    sent, size = submitted(request, ("list_state",)), queries.usual_size(request)
    if "list_state" in sent:
        return queries.of_state(kind, sent["list_state"], size)
    values: dict[str, list[str]] = request.GET.dict_of_lists()
    for name in OF_FORMS:
        if name in request.POST and name not in kind.fields:
            values[name] = [text for text in request.POST.getall(name) if isinstance(text, str)]
    return queries.read_query(kind, values, size)


def edit_url(request: Request, kind: Kind, record_id: int, state: str) -> str:
    """Return the address of a record's edit form, with the key of the signed-in person."""
    return edit_urls(request, kind, state)(record_id)


def edit_urls(request: Request, kind: Kind, state: str) -> Callable[[int], str]:
    """Return what gives the address of a record's edit form."""
    key_of = edit_keys(request.registry["settings"].secrets[0], request.identity, kind.name)
    after = f"&{state}" if state else ""
    return lambda record_id: f"/admin/{kind.name}/{record_id}/edit?key={key_of(record_id)}{after}"


def create_url(kind: Kind, state: str, **source: int) -> str:
    """Return the address of a new record's form; ``near`` or ``copy`` names the record that it takes after."""
    query = "&".join(filter(None, (urlencode(source), state)))
    return f"/admin/{kind.name}/create?{query}" if query else f"/admin/{kind.name}/create"


def of_deleted_rows(request: Request, collection: Collection) -> Callable[[int], dict[str, str]]:
    """Return what gives the addresses that the signed-in person may use on a deleted row."""
    may = request.has_permission(Permission.RESTORE, collection)

    def of_row(record_id: int) -> dict[str, str]:
        here = f"/admin/{collection.kind.name}/{record_id}"
        return {"history": f"{here}/history"} | ({"restore": f"{here}/restore"} if may else {})

    return of_row


def of_rows(request: Request, collection: Collection, state: str) -> Callable[[int], dict[str, str]]:
    """Return what gives the addresses that the signed-in person may use on a row; who may what is asked once."""
    kind, after = collection.kind, f"?{state}" if state else ""
    edit_of = edit_urls(request, kind, state)
    may_edit = request.has_permission(Permission.EDIT, collection)
    may_delete = request.has_permission(Permission.DELETE, collection)

    def of_row(record_id: int) -> dict[str, str]:
        here = f"/admin/{kind.name}/{record_id}"
        found = {"view": here}
        if may_edit:
            found["edit"] = edit_of(record_id)
        if may_delete:
            found["delete"] = f"{here}/delete{after}"
        return found

    return of_row
