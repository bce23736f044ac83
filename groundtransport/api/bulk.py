"""``POST /api/v1/bulk``: up to 1,000 operations in one transaction, as one batch of the activity log."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyramid.response import Response
from sqlalchemy import select

from groundtransport.api.body import read_object
from groundtransport.api.idempotency import idempotent
from groundtransport.api.problems import ApiProblem, InvalidFields
from groundtransport.api.records import check_airport
from groundtransport.api.values import patched_values, replaced_values
from groundtransport.api.view import Operation, api_view, json_response
from groundtransport.db import BULK_BUDGET
from groundtransport.db.functions import advisory_lock
from groundtransport.i18n import _
from groundtransport.json_types import JsonObject
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.records.view_helpers import writer_of
from groundtransport.records.writer import Writer
from groundtransport.request import Request
from groundtransport.resources import Api, Collection, DeletedRecord, Node
from groundtransport.security import Permission
from groundtransport.web.layout import DENIALS

MOST = 1_000  # operations
# The members of each operation besides ``op`` and ``kind``, and the permission that it needs.
MEMBERS = {
    "create": ("values",),
    "replace": ("id", "version", "values"),
    "update": ("id", "version", "values"),
    "verify": ("id", "version"),
    "delete": ("id", "version"),
    "restore": ("id",),
}
PERMISSIONS = {
    "create": Permission.CREATE,
    "replace": Permission.EDIT,
    "update": Permission.EDIT,
    "verify": Permission.EDIT,
    "delete": Permission.DELETE,
    "restore": Permission.RESTORE,
}
TYPES: dict[str, type] = {"id": int, "version": int, "values": dict}
FAILED = _("${n} of the operations cannot be done, so none was.")
NO_OPERATIONS = _("Send 1 to ${n} operations.")
NO_MEMBER = _("This member is missing, or not of its type.")
NO_OP = _("The operations are: ${names}.")
NO_KIND = _("There is no kind of this name.")
TOO_MANY_MEMBERS = _("This operation has no such member.")
GONE = _("There is no such record.")
IS_DELETED = _("This record is deleted.")
NOT_DELETED = _("This record is not deleted.")
STALE = _("The record has another version now: ${version}.")
ID_MAX = 10**18 - 1


@dataclass
class Batch:
    """The state of a bulk request: the locked rows that its operations name, and the results and failures so far."""

    request: Request
    context: Api
    name: str
    rows: dict[tuple[str, int], RecordColumns] = field(default_factory=dict)
    results: list[dict[str, object]] = field(default_factory=list)
    failures: list[dict[str, object]] = field(default_factory=list)
    # The records to create, by kind: they are inserted together, at the end.
    new: dict[str, list[tuple[int, dict[str, object]]]] = field(default_factory=dict)

    def collection(self, operation: JsonObject) -> Collection:
        """Return the collection of the kind that an operation names."""
        collection = self.context[operation["kind"]]
        assert isinstance(collection, Collection)
        return collection

    def writer(self, kind: Kind) -> Writer:
        """Return the writer of a kind; all writers share the batch."""
        return writer_of(self.request, kind, self.name)


@api_view(
    Operation("bulk-result", "bulk", parameters=("Idempotency-Key",), statuses=(409,)),
    context=Api,
    name="bulk",
    request_method="POST",
    permission=Permission.EDIT,
    time_budget=BULK_BUDGET,
)
@idempotent
def bulk(context: Api, request: Request) -> Response:
    """Do up to 1,000 operations, all or nothing, as one batch of the activity log."""
    operations = read_operations(request)
    batch = Batch(request, context, f"api-{secrets.token_hex(8)}")
    lock_rows(batch, operations)
    for index, operation in enumerate(operations):
        try:
            batch.results.append(apply(batch, index, operation))
        except ApiProblem as problem:
            batch.failures.append(failure(request, index, problem))
    if batch.failures:
        number = str(len(batch.failures))
        raise ApiProblem(422, _(FAILED, mapping={"n": number}), failures=batch.failures)
    create_new(batch)
    return json_response({"batch": batch.name, "results": batch.results})


def read_operations(request: Request) -> list[dict[str, object]]:
    """Return the operations of a body, each of the right form. Raise InvalidFields, ApiProblem."""
    body = read_object(request)
    operations = body.get("operations")
    if set(body) != {"operations"} or not isinstance(operations, list) or not 1 <= len(operations) <= MOST:
        raise InvalidFields({"operations": [_(NO_OPERATIONS, mapping={"n": str(MOST)})]})
    errors: dict[str, list[str]] = {}
    for index, operation in enumerate(operations):
        for name, text in faults(request, operation).items():
            errors[f"operations[{index}].{name}"] = [text]
    if errors:
        raise InvalidFields(errors)
    return operations


def faults(request: Request, operation: object) -> dict[str, str]:
    """Return the errors in the form of an operation, by member; {} for a valid one."""
    if not isinstance(operation, dict) or operation.get("op") not in tuple(MEMBERS):
        return {"op": _(NO_OP, mapping={"names": ", ".join(MEMBERS)})}
    if operation.get("kind") not in tuple(request.registry["kinds"]):
        return {"kind": NO_KIND}
    members = MEMBERS[operation["op"]]
    wrong = [name for name in members if type(operation.get(name)) is not TYPES[name]]
    further = set(operation) - {"op", "kind", *members}
    return {**dict.fromkeys(wrong, NO_MEMBER), **dict.fromkeys(further, TOO_MANY_MEMBERS)}


def lock_rows(batch: Batch, operations: Sequence[JsonObject]) -> None:
    """Read and lock the rows that the operations name, ordered by kind and id, so that two batches cannot deadlock."""
    for name, kind in sorted(batch.request.registry["kinds"].items()):
        ids = {one["id"] for one in operations if one["kind"] == name and 0 < one.get("id", 0) <= ID_MAX}
        if not ids:
            continue
        model = kind.model
        query = select(model).where(model.id.in_(ids), advisory_lock(model.id)).order_by(model.id).with_for_update()
        batch.rows |= {(name, row.id): row for row in batch.request.dbsession.scalars(query)}


def apply(batch: Batch, index: int, operation: JsonObject) -> dict[str, object]:
    """Do one operation, and return its result. Raise ApiProblem if it cannot be done."""
    op, collection = operation["op"], batch.collection(operation)
    kind = collection.kind
    if op == "create":
        check_permission(batch.request, op, collection)
        values = replaced_values(batch.request, kind, operation["values"])
        batch.new.setdefault(kind.name, []).append((index, values))
        return {"op": op, "kind": kind.name, "id": 0, "version": 1}
    row = find_row(batch, op, collection, operation)
    writer = batch.writer(kind)
    if op == "delete":
        writer.delete(row)
    elif op == "verify":
        writer.verify(row)
    elif op == "restore":
        check_airport(batch.request, row)
        writer.restore(row)
    else:
        read_values = replaced_values if op == "replace" else patched_values
        writer.update(row, read_values(batch.request, kind, operation["values"], row))
    return {"op": op, "kind": kind.name, "id": operation["id"], "version": row.version}


def find_row(batch: Batch, op: str, collection: Collection, operation: JsonObject) -> RecordColumns:
    """Return the row of an operation. Raise ApiProblem if it does not exist, or not in that state or version."""
    row = batch.rows.get((collection.kind.name, operation["id"]))
    if row is None:
        check_permission(batch.request, op, collection)
        raise ApiProblem(404, GONE)
    record_class = DeletedRecord if row.is_deleted else collection.kind.record
    check_permission(batch.request, op, record_class(batch.request, row, collection))
    if row.is_deleted != (op == "restore"):
        raise ApiProblem(404 if row.is_deleted else 409, IS_DELETED if row.is_deleted else NOT_DELETED)
    if op != "restore" and row.version != operation["version"]:
        raise ApiProblem(412, _(STALE, mapping={"version": str(row.version)}), current_version=row.version)
    return row


def check_permission(request: Request, op: str, context: Node) -> None:
    """Raise ApiProblem (403) if the token does not permit the operation."""
    permission = PERMISSIONS[op]
    if not request.has_permission(permission, context):
        raise ApiProblem(403, DENIALS[permission])


def failure(request: Request, index: int, problem: ApiProblem) -> dict[str, object]:
    """Return a failed operation as a member of the problem details."""
    members = {"index": index, "status": problem.status, "detail": request.translate(problem.detail), **problem.members}
    if isinstance(problem, InvalidFields):
        members["errors"] = {
            name: [request.translate(text) for text in texts] for name, texts in problem.errors.items()
        }
    return members


def create_new(batch: Batch) -> None:
    """Insert the new records of each kind together, and put their ids into the results."""
    for name, new in batch.new.items():
        writer = batch.writer(batch.request.registry["kinds"][name])
        ids = writer.create_all([values for _index, values in new])
        for record_id, (index, _values) in zip(ids, new, strict=True):
            batch.results[index]["id"] = record_id
