"""``GET /api/v1/openapi.json``: the API described as OpenAPI 3.1, from the kinds and the registered views."""

from http import HTTPStatus
from importlib.metadata import version

import orjson
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from groundtransport.api import schemas
from groundtransport.api.bulk import MEMBERS, MOST
from groundtransport.api.listing import list_parameters
from groundtransport.api.parameters import LIMIT, LIMIT_MAX
from groundtransport.api.paths import PathOperation, operations
from groundtransport.api.view import BODY_TYPES, JSON, PROBLEM, Operation, api_view
from groundtransport.i18n import translated
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import TEXT_MAX
from groundtransport.request import Registry, Request
from groundtransport.resources import Api

DESCRIPTION = """Records of ground transport at the world's airports, and the log of their changes.

Send a token with each request: `Authorization: Bearer gt_...`. A write names the version that it replaces: `If-Match`
with the `ETag` of the record. Errors are problem details (RFC 9457), with the messages about each field in `errors`."""
ALWAYS = (401, 403, 406, 422, 429)  # errors of every operation
TOKEN: dict[str, schemas.Schema] = {  # members of the token that a program uses
    "name": schemas.TEXT,
    "is_read_only": {"type": "boolean"},
    "kinds": {"type": "array", "items": schemas.TEXT},
}
HEADERS = {
    "If-Match": ("The ETag of the version that the request replaces", {"type": "string", "examples": ['"1"']}),
    "If-None-Match": ("The ETag of the version that the client has", {"type": "string", "examples": ['"1"']}),
    "Idempotency-Key": (
        "A text of the client's; the same request with the same key is done once within a day",
        {"type": "string", "pattern": r'^"?[!#-~]{1,255}"?$'},
    ),
    "Prefer": ("`return=minimal` for an answer without a body", {"type": "string", "examples": ["return=minimal"]}),
}
QUERY: dict[str, tuple[str, schemas.Schema]] = {
    "limit": (
        "The number of items of a page",
        {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT},
    ),
    "cursor": ("Where the page begins, from the `next` of the page before", {"type": "string"}),
    "q": ("Search terms", {"type": "string", "maxLength": TEXT_MAX}),
    "after": ("The number of the last entry that the client has", {"type": "integer", "minimum": 0, "default": 0}),
    "wait": ("Seconds to wait for a change if there is none", {"type": "integer", "minimum": 0, "maximum": 30}),
    "from": ("The first day, in UTC", {"type": "string", "format": "date"}),
    "to": ("The last day, in UTC", {"type": "string", "format": "date"}),
    "field": ("The name of a changed field", {"type": "string", "pattern": "^([a-z][a-z0-9_]{0,63})?$"}),
    "record_id": ("The id of a record", {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}),
}


@api_view(
    Operation(is_hidden=True),
    context=Api,
    name="openapi.json",
    request_method="GET",
    permission=NO_PERMISSION_REQUIRED,
)
def openapi(context: Api, request: Request) -> Response:
    """Return the OpenAPI document. It holds no data, so it needs no token."""
    registry = request.registry
    if "openapi" not in registry:
        registry["openapi"] = orjson.dumps(document(registry))
    return Response(registry["openapi"], content_type=JSON, charset=None)


def document(registry: Registry) -> dict[str, object]:
    """Return the OpenAPI document of an application."""
    paths: dict[str, dict[str, object]] = {}
    for one in operations(registry):
        paths.setdefault(one.path, {})[one.method.lower()] = operation_object(one)
    for path, item in paths.items():
        if names := [part[1:-1] for part in path.split("/") if part.startswith("{")]:
            item["parameters"] = [_path_parameter(name) for name in names]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ground Transport", "version": version("groundtransport"), "description": DESCRIPTION},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "gt_..."}},
            "schemas": all_schemas(registry["kinds"]),
        },
    }


def all_schemas(kinds: dict[str, Kind]) -> dict[str, schemas.Schema]:
    """Return the schemas of the document by name."""
    names = list(kinds)
    of_kinds = {name: schema for kind in kinds.values() for name, schema in schemas.record_schemas(kind).items()}
    return {
        **of_kinds,
        "to-version": {
            **schemas.objects({}, {"to_version": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}}),
            "additionalProperties": False,
        },
        **_log_schemas(names),
        "airport": schemas.objects(schemas.AIRPORT),
        "airport-page": schemas.page(schemas.reference("airport")),
        "cities": schemas.items(schemas.objects({"name": schemas.TEXT, "state": schemas.OPTIONAL_TEXT})),
        "states": schemas.items(schemas.objects({"code": schemas.TEXT, "name": schemas.TEXT})),
        "me": schemas.objects(
            {"user": schemas.TEXT, "full_name": schemas.TEXT, "role": schemas.TEXT, "token": schemas.objects(TOKEN)}
        ),
        **_bulk_schemas(names),
        "problem": schemas.PROBLEM,
    }


def _log_schemas(names: list[str]) -> dict[str, schemas.Schema]:
    """Return the schemas of the activity log and of the feed of changes; ``names`` are those of the kinds."""
    record = {"anyOf": [*(schemas.reference(name) for name in names), {"type": "null"}]}
    return {
        "entry": schemas.objects(schemas.ENTRY),
        "entry-page": schemas.page(schemas.reference("entry")),
        "change": schemas.objects({**schemas.ENTRY, "record": record}),
        "change-page": schemas.page(schemas.reference("change"), last=schemas.NUMBER),
    }


def _bulk_schemas(names: list[str]) -> dict[str, schemas.Schema]:
    """Return the schemas of a bulk request and its answer; ``names`` are those of the kinds."""
    variants = [schemas.bulk_operation(op, members, names) for op, members in MEMBERS.items()]
    array = {"type": "array", "items": {"oneOf": variants}, "minItems": 1, "maxItems": MOST}
    result = {"op": schemas.TEXT, "kind": schemas.TEXT, "id": schemas.NUMBER, "version": schemas.NUMBER}
    return {
        "bulk": {**schemas.objects({"operations": array}), "additionalProperties": False},
        "bulk-result": schemas.objects(
            {"batch": schemas.TEXT, "results": {"type": "array", "items": schemas.objects(result)}}
        ),
    }


def operation_object(one: PathOperation) -> dict[str, object]:
    """Return the Operation Object of an operation."""
    name = one.kind.name if one.kind else ""
    described: dict[str, object] = {
        "operationId": "_".join(filter(None, (one.name, name))),
        "summary": one.summary,
        "tags": [translated(one.kind.plural) if one.kind else "Airports" if "airports" in one.path else "General"],
        "parameters": [parameter for given in one.operation.parameters for parameter in _parameters(given, one)],
        "responses": responses(one, name),
    }
    if one.operation.body:
        content = {"schema": schemas.reference(one.operation.body.format(kind=name))}
        described["requestBody"] = {
            "required": one.operation.is_body_required,
            "content": dict.fromkeys(BODY_TYPES[one.method], content),
        }
    return described


def _parameters(name: str, one: PathOperation) -> list[dict[str, object]]:
    """Return the Parameter Objects of a name: one, or for ``{list}`` those of the kind's list."""
    if name == "{list}":
        assert one.kind is not None
        return [_list_parameter(each, values) for each, values in list_parameters(one.kind).items()]
    if name in HEADERS:
        text, schema = HEADERS[name]
        return [
            {
                "name": name,
                "in": "header",
                "required": name == "If-Match" and one.method != "POST",
                "description": text,
                "schema": schema,
            }
        ]
    text, schema = QUERY.get(name, (f"Only entries with this {name.replace('_', ' ')}", {"type": "string"}))
    return [{"name": name, "in": "query", "description": text, "schema": schema}]


def _list_parameter(name: str, values: list[str] | None) -> dict[str, object]:
    text = {"q": "Search terms", "sort": 'The field to sort by, "-" before it for descending; else newest first'}
    schema: dict[str, object] = (
        {"type": "string", "enum": values} if values else {"type": "string", "maxLength": TEXT_MAX}
    )
    described = text.get(name, f"The filter {name} of the list")
    return {"name": name, "in": "query", "description": described, "schema": schema}


def _path_parameter(name: str) -> dict[str, object]:
    schema = {"id": {"type": "integer", "minimum": 1}, "code": {"type": "string", "examples": ["JFK"]}}
    return {"name": name, "in": "path", "required": True, "schema": schema[name]}


def responses(one: PathOperation, name: str) -> dict[str, object]:
    """Return the Responses Object of an operation: its success, and each error that it is known for."""
    operation = one.operation
    success: dict[str, object] = {"description": HTTPStatus(operation.success).phrase}
    if operation.answer:
        success["content"] = {JSON: {"schema": schemas.reference(operation.answer.format(kind=name))}}
    answers = {str(operation.success): success}
    if "Prefer" in operation.parameters:
        answers["204"] = {"description": "The same without a body: Prefer: return=minimal"}
    if "If-None-Match" in operation.parameters:
        answers["304"] = {"description": HTTPStatus(304).phrase}
    with_body = (400, 413, 415) if operation.body else ()
    content = {PROBLEM: {"schema": schemas.reference("problem")}}
    for status in sorted({*ALWAYS, *with_body, *operation.statuses}):
        answers[str(status)] = {"description": HTTPStatus(status).phrase, "content": content}
    return {**answers, "default": {"description": "An error", "content": content}}
