"""Views of collections and records: create, read, replace, patch, delete, restore."""

from pyramid.response import Response

from groundtransport.airports.models import Airport
from groundtransport.api.answers import record_response, url_of
from groundtransport.api.body import read_object
from groundtransport.api.conditions import check_if_match, is_not_modified, not_modified
from groundtransport.api.idempotency import idempotent
from groundtransport.api.problems import ApiProblem, InvalidFields
from groundtransport.api.values import UNKNOWN, patched_values, replaced_values
from groundtransport.api.view import Operation, api_view
from groundtransport.i18n import _
from groundtransport.records.model import RecordColumns
from groundtransport.records.sources import survivor_of
from groundtransport.records.view_helpers import writer_of
from groundtransport.request import Request
from groundtransport.resources import Collection, DeletedRecord, MergedRecord, Record
from groundtransport.security import Permission

READ = Operation("{kind}", parameters=("If-None-Match",), statuses=(404,))
HIDDEN = Operation(is_hidden=True)
CREATE = Operation("{kind}", "{kind}-input", parameters=("Idempotency-Key", "Prefer"), success=201, statuses=(409,))
CHANGED = (400, 404, 409, 412, 428)
REPLACE = Operation("{kind}", "{kind}-input", parameters=("If-Match", "Prefer"), statuses=CHANGED)
PATCH = Operation("{kind}", "{kind}-patch", parameters=("If-Match", "Prefer"), statuses=CHANGED)
DELETE = Operation(parameters=("If-Match",), success=204, statuses=CHANGED)
VERIFY = Operation("{kind}", parameters=("If-Match", "Idempotency-Key", "Prefer"), statuses=CHANGED)
RESTORE = Operation(
    "{kind}",
    "to-version",
    is_body_required=False,
    parameters=("If-Match", "Idempotency-Key", "Prefer"),
    statuses=CHANGED,
)

MERGED = _("This record was merged into another one.")
WITHDRAWN = _("${airport} is no longer in the list of airports.")
NOT_DELETED = _("This record is not deleted. Name the version to go back to: to_version.")
NO_VERSION = _("There is no such version of this record in the activity log.")


@api_view(CREATE, context=Collection, request_method="POST", permission=Permission.CREATE)
@idempotent
def create(context: Collection, request: Request) -> Response:
    """Create a record."""
    kind = context.kind
    values = replaced_values(request, kind, read_object(request))
    record_id = writer_of(request, kind).create(values)
    row = request.dbsession.get_one(kind.model, record_id)
    response = record_response(request, kind, row, 201)
    response.headers["Location"] = url_of(request, context, str(record_id))
    return response


@api_view(READ, context=Record, request_method="GET", permission=Permission.VIEW)
def read(context: Record, request: Request) -> Response:
    """Read a record."""
    if is_not_modified(request, context.row.version):
        return not_modified(context.row.version)
    return record_response(request, context.kind, context.row)


@api_view(HIDDEN, context=MergedRecord, request_method="GET", permission=Permission.VIEW)
def read_merged(context: MergedRecord, request: Request) -> Response:
    """Answer as for a deleted record (404), with the id of the record that it was merged into."""
    raise ApiProblem(404, MERGED, merged_into=survivor_of(request.dbsession, context.kind, context.row.merged_into))


@api_view(REPLACE, context=Record, request_method="PUT", permission=Permission.EDIT)
def replace(context: Record, request: Request) -> Response:
    """Replace a record; fields that are not sent are emptied."""
    check_if_match(request, context.row.version)
    values = replaced_values(request, context.kind, read_object(request), context.row)
    return _save(context, request, values)


@api_view(PATCH, context=Record, request_method="PATCH", permission=Permission.EDIT)
def patch(context: Record, request: Request) -> Response:
    """Change the fields that are sent (JSON merge patch); null empties a field."""
    check_if_match(request, context.row.version)
    values = patched_values(request, context.kind, read_object(request), context.row)
    return _save(context, request, values)


@api_view(DELETE, context=Record, request_method="DELETE", permission=Permission.DELETE)
def delete(context: Record, request: Request) -> Response:
    """Delete a record; it can be restored if its kind keeps deleted records."""
    check_if_match(request, context.row.version)
    writer_of(request, context.kind).delete(context.row)
    return Response(status=204)


def _save(context: Record, request: Request, values: dict[str, object]) -> Response:
    writer_of(request, context.kind).update(context.row, values)
    return record_response(request, context.kind, context.row)


@api_view(VERIFY, context=Record, name="verify", request_method="POST", permission=Permission.EDIT)
@idempotent
def verify(context: Record, request: Request) -> Response:
    """Mark a record as verified, now: it was checked to be right. Its version stays."""
    check_if_match(request, context.row.version)
    if request.body and (body := read_object(request)):
        raise InvalidFields({name: [UNKNOWN] for name in body})
    writer_of(request, context.kind).verify(context.row)
    return record_response(request, context.kind, context.row)


@api_view(RESTORE, context=DeletedRecord, name="restore", request_method="POST", permission=Permission.RESTORE)
@idempotent
def restore(context: DeletedRecord, request: Request) -> Response:
    """Restore a deleted record."""
    if request.body and (body := read_object(request)):
        raise InvalidFields({name: [UNKNOWN] for name in body})
    check_airport(request, context.row)
    writer_of(request, context.kind).restore(context.row)
    return record_response(request, context.kind, context.row)


def check_airport(request: Request, row: RecordColumns) -> None:
    """Raise ApiProblem (422) if the airport of a deleted record was withdrawn."""
    if request.dbsession.get_one(Airport, row.airport_id).withdrawn_at is not None:
        raise ApiProblem(422, _(WITHDRAWN, mapping={"airport": row.airport_name}))


@api_view(RESTORE, context=Record, name="restore", request_method="POST", permission=Permission.RESTORE)
@idempotent
def restore_version(context: Record, request: Request) -> Response:
    """Restore a deleted record, or a live one to what it said at an earlier version (to_version)."""
    body = read_object(request) if request.body else {}
    if unknown := set(body) - {"to_version"}:
        raise InvalidFields({name: [UNKNOWN] for name in unknown})
    if "to_version" not in body:
        raise ApiProblem(409, NOT_DELETED)
    check_if_match(request, context.row.version)
    version = body["to_version"]
    before = request.values_at(context.kind, context.row, version) if type(version) is int else None
    if before is None:
        raise InvalidFields({"to_version": [NO_VERSION]})
    kind = context.kind
    confirmed = {**before, **dict.fromkeys(kind.marks, True)}  # another place was confirmed at that version
    return _save(context, request, patched_values(request, kind, confirmed, context.row))
