"""The schemas of the OpenAPI document: those of records from the kinds' colander schemas, the others written here."""

import colander

from groundtransport.i18n import translated
from groundtransport.json_types import JsonObject
from groundtransport.records.fields import Field
from groundtransport.records.kind import Kind
from groundtransport.records.validity import STATES

Schema = JsonObject

TEXT: Schema = {"type": "string"}
OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
NUMBER: Schema = {"type": "integer", "minimum": 0}
TIME: Schema = {"type": "string", "format": "date-time"}
NEXT: Schema = {
    "type": ["string", "null"],
    "format": "uri",
    "description": "The URL of the next page; null on the last",
}
EXAMPLE_AIRPORT = "John F Kennedy International Airport (JFK)"
EXAMPLES = {"label": "Airport Express", "phone": "+1 718 244 4444", "place": "New York"}


def record_schemas(kind: Kind) -> dict[str, Schema]:
    """Return the schemas of a kind: its records, what creates or replaces one, what patches one, and pages."""
    fields = {name: nullable(field_schema(node)) for name, node in kind.fields.items()}
    read_only: dict[str, Schema] = {
        "id": NUMBER,
        "airport_code": {**TEXT, "description": "The IATA code of the airport"},
        "verified_at": {
            "type": ["string", "null"],
            "format": "date-time",
            "description": "When it was last checked to be right; no change of the record, so the version stays",
        },
        "verified_by": {**OPTIONAL_TEXT, "description": "The user name"},
        "validity": {
            "type": "string",
            "enum": list(STATES),
            "description": "Whether ``valid_from`` and ``valid_until`` (in UTC) include today; the status stays",
        },
        "created_at": TIME,
        "updated_at": TIME,
        "version": {**NUMBER, "description": "The number of the version; the ETag in quotes"},
    }
    marks = {
        name: {
            "type": "boolean",
            "description": "Whether the city is none of the airport's; send true to save such a city all the same",
        }
        for name in kind.marks
    }
    writable = {**fields, **{name: nullable(schema) for name, schema in marks.items()}}
    deletion = {"deleted_at": TIME, "deleted_by": TEXT, "merged_into": {"type": ["integer", "null"]}}
    item = {**fields, **marks, **{name: {**schema, "readOnly": True} for name, schema in read_only.items()}}
    required = [name for name, node in kind.fields.items() if node.missing is colander.required]
    return {
        kind.name: objects(item, properties={name: {**schema, "readOnly": True} for name, schema in deletion.items()}),
        f"{kind.name}-input": {
            **objects({name: fields[name] for name in required}, properties=writable),
            "additionalProperties": False,
            "examples": [example(kind)],
        },
        f"{kind.name}-patch": {**objects({}, properties=writable), "additionalProperties": False, "examples": [{}]},
        f"{kind.name}-page": page(
            reference(kind.name),
            total={"type": ["integer", "null"], "description": "The number of matches; null if it is not known"},
            is_estimate={"type": "boolean", "description": "Whether ``total`` is an estimate"},
        ),
    }


def field_schema(node: Field) -> Schema:
    """Return the schema of a field's values, without null, with its title and help."""
    texts = {"title": translated(node.title), "description": translated(node.help) if node.help else ""}
    return {**{name: text for name, text in texts.items() if text}, **node.json_schema()}


def nullable(schema: Schema) -> Schema:
    """Return the schema that permits null, too."""
    permitted = {**schema, "type": [schema["type"], "null"]}
    return {**permitted, "enum": [*schema["enum"], None]} if "enum" in schema else permitted


def example(kind: Kind) -> dict[str, str]:
    """Return the body of a request that creates a record."""
    named = {getattr(kind, role): text for role, text in EXAMPLES.items() if getattr(kind, role)}
    return {"airport_name": EXAMPLE_AIRPORT, **named}


def objects(required: dict[str, Schema], properties: dict[str, Schema] | None = None) -> Schema:
    """Return the schema of an object with required and further properties."""
    return {"type": "object", "properties": {**required, **(properties or {})}, "required": list(required)}


def reference(name: str) -> Schema:
    """Return the reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def page(item: Schema, **more: Schema) -> Schema:
    """Return the schema of a page of items."""
    return objects({"items": {"type": "array", "items": item}, **more, "next": NEXT})


def items(item: Schema) -> Schema:
    """Return the schema of an object whose only member ``items`` is an array."""
    return objects({"items": {"type": "array", "items": item}})


ENTRY = {
    "id": {**NUMBER, "description": "The number of the entry: without gaps, in the order of the commits"},
    "at": TIME,
    "actor": {**TEXT, "description": "The user name"},
    "token": {**TEXT, "description": "The name of the token; empty for a person in a browser"},
    "action": {
        "type": "string",
        "enum": ["create", "update", "verify", "delete", "restore", "purge", "note", "unnote", "distinct", "propose"],
    },
    "kind": TEXT,
    "record_id": NUMBER,
    "version": NUMBER,
    "airport_code": TEXT,
    "label": TEXT,
    "changes": {
        "type": "object",
        "description": "The changed fields, with their old and new values",
        "additionalProperties": objects({"old": {}, "new": {}}),
    },
    "batch": {**TEXT, "description": "The name of the bulk request or import, or empty"},
}
AIRPORT = {
    "code": {**TEXT, "description": "IATA"},
    "icao": OPTIONAL_TEXT,
    "airport_name": {**TEXT, "description": "As records name it: the name, and the code in brackets"},
    "city": TEXT,
    "country": {**TEXT, "description": "ISO 3166-1"},
    "latitude": {"type": "number"},
    "longitude": {"type": "number"},
}
ERRORS = {"type": "object", "additionalProperties": {"type": "array", "items": TEXT}}
PROBLEM = objects(
    {"type": TEXT, "title": TEXT, "status": NUMBER, "detail": TEXT, "instance": TEXT},
    {
        "errors": {**ERRORS, "description": "The messages about each invalid field or parameter, by its name"},
        "current_version": {**NUMBER, "description": "The version of the record now, with 412"},
        "first": {**NUMBER, "description": "The number of the first entry that is left, with 410"},
        "merged_into": {**NUMBER, "description": "The id of the record that it was merged into, with 404"},
        "failures": {
            "type": "array",
            "description": "The operations of a bulk request that cannot be done",
            "items": objects({"index": NUMBER, "status": NUMBER, "detail": TEXT}, {"errors": ERRORS}),
        },
    },
)


def bulk_operation(name: str, members: tuple[str, ...], kinds: list[str]) -> Schema:
    """Return the schema of one operation of a bulk request."""
    types: dict[str, Schema] = {
        "id": {"type": "integer"},
        "version": {"type": "integer"},
        "values": {"type": "object", "description": "The fields, as in a request for this record alone"},
    }
    head: dict[str, Schema] = {"op": {"const": name}, "kind": {"type": "string", "enum": kinds}}
    return {**objects({**head, **{member: types[member] for member in members}}), "additionalProperties": False}
