"""The addresses of records and lists, with the list's state in them."""

from pyramid.request import Request

from groundtransport.records import query as queries
from groundtransport.records.kind import Kind
from groundtransport.resources import Collection
from groundtransport.security import Permission, edit_key
from groundtransport.web.fields import submitted


def list_address(request: Request, kind: Kind, state: str) -> str:
    """Return the address of a kind's list in that state."""
    return f"/admin/{kind.name}?{state}" if state else f"/admin/{kind.name}"


def sent_query(request: Request, kind: Kind) -> queries.ListQuery:
    """Return the list's query that travelled with a write as ``list_state``."""
    state = submitted(request, ("list_state",)).get("list_state", "")
    return queries.of_state(kind, state, request.registry["settings"].page_size)


def edit_address(request: Request, kind: Kind, record_id: int, state: str) -> str:
    """Return the address of a record's edit form, with the key of the signed-in person."""
    key = edit_key(request.registry["settings"].secrets[0], request.identity, kind.name, record_id)
    return f"/admin/{kind.name}/{record_id}/edit?key={key}" + (f"&{state}" if state else "")


def deleted_actions(request: Request, collection: Collection, record_id: int) -> dict[str, str]:
    """Return the addresses that the signed-in person may use on a deleted row."""
    here = f"/admin/{collection.kind.name}/{record_id}"
    may = request.has_permission(Permission.RESTORE, collection)
    return {"history": f"{here}/history"} | ({"restore": f"{here}/restore"} if may else {})


def actions(request: Request, collection: Collection, record_id: int, state: str) -> dict[str, str]:
    """Return the addresses that the signed-in person may use on a row."""
    here, kind = f"/admin/{collection.kind.name}/{record_id}", collection.kind
    found = {"view": here}
    if request.has_permission(Permission.EDIT, collection):
        found["edit"] = edit_address(request, kind, record_id, state)
    if request.has_permission(Permission.DELETE, collection):
        found["delete"] = f"{here}/delete" + (f"?{state}" if state else "")
    return found
