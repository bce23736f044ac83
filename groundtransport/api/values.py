"""From the JSON of a record to its values: through the schema of the forms, with typed members and no unknown ones."""

from collections.abc import Mapping

import colander
from sqlalchemy.orm import Session

from groundtransport.api.problems import InvalidFields
from groundtransport.api.representation import READ_ONLY, UNVERSIONED, unchanged
from groundtransport.i18n import _
from groundtransport.records.fields import Field
from groundtransport.records.forms import find_place, values_of
from groundtransport.records.kind import Kind
from groundtransport.records.model import OTHER_PLACE, RecordColumns
from groundtransport.request import Request

UNKNOWN = _("There is no field of this name.")
IS_READ_ONLY = _("This field is read only.")
TYPE_NAMES = {str: _("a text"), int: _("a whole number"), bool: _("true or false")}
WRONG_TYPE = _("${field} must be ${type}, or null.")
NOT_LISTED = _("${field} must be one of: ${labels}.")
TOO_LONG = _("${field} can have at most ${number} characters.")
CONFIRM = _("Send ${name} as true to save another place all the same.", mapping={"name": OTHER_PLACE})

Errors = dict[str, list[str]]


def replaced_values(request: Request, kind: Kind, body: Mapping[str, object], row: object = None) -> dict[str, object]:
    """Return the values of a new record, or of one that ``body`` replaces; absent fields are empty.

    Raise InvalidFields.
    """
    return _validated(request, kind, _texts(kind, body, row), row, confirms=body.get(OTHER_PLACE) is True)


def patched_values(request: Request, kind: Kind, patch: Mapping[str, object], row: RecordColumns) -> dict[str, object]:
    """Return the values of a record after a JSON merge patch (RFC 7396). Raise InvalidFields."""
    stored = {name: getattr(row, name) for name in kind.fields}
    texts = {name: kind.fields[name].text(value) for name, value in stored.items() if value is not None}
    texts |= _texts(kind, patch, row)
    return _validated(request, kind, texts, row, confirms=patch.get(OTHER_PLACE) is True)


def _texts(kind: Kind, body: Mapping[str, object], row: object) -> dict[str, str]:
    """Return the members of a body as the texts of a form. Raise InvalidFields for unknown or mistyped members."""
    errors: Errors = {}
    texts = {}
    for name, value in body.items():
        if name in kind.fields:
            node = kind.fields[name]
            if message := fault(node, value):
                errors[name] = [message]
            texts[name] = "" if value is None else node.text(value)
        elif name in kind.marks:
            if value is not None and type(value) is not bool:
                errors[name] = [_(WRONG_TYPE, mapping={"field": name, "type": TYPE_NAMES[bool]})]
        elif row is not None and name in UNVERSIONED:
            continue
        elif name not in (*READ_ONLY, *UNVERSIONED):
            errors[name] = [UNKNOWN]
        elif not unchanged(row, body, name):
            errors[name] = [IS_READ_ONLY]
    if errors:
        raise InvalidFields(errors)
    return texts


def fault(node: Field, value: object) -> str:
    """Return why a JSON value does not have the form of a field's values; "" if it has."""
    schema = node.json_schema()
    if value is None:
        return ""
    if type(value) is not node.json_type:
        return node.about(WRONG_TYPE, type=TYPE_NAMES[node.json_type])
    if "enum" in schema and value not in schema["enum"]:
        return node.about(NOT_LISTED, labels=", ".join(schema["enum"]))
    if len(str(value)) > schema.get("maxLength", len(str(value))):
        return node.about(TOO_LONG, number=str(schema["maxLength"]))
    return ""


def _validated(
    request: Request, kind: Kind, texts: Mapping[str, str], row: object, *, confirms: bool
) -> dict[str, object]:
    """Return the values that the kind's schema makes of the texts of a form. Raise InvalidFields.

    ``confirms`` is true if a city may be none of the airport's.
    """
    dbsession: Session = request.dbsession
    before = (
        None if row is None else {name: getattr(row, name) for name in (*kind.fields, "airport_id", "airport_code")}
    )
    country = request.registry["settings"].default_country
    city = kind.marked_city
    confirmed = (texts.get(city, "") if confirms else "") if city else None
    place = find_place(dbsession, texts.get("airport_name", ""), country, before, confirmed)
    schema = kind.form.bind(place=place)
    try:
        return values_of(place, schema.deserialize({name: texts.get(name) or colander.null for name in kind.fields}))
    except colander.Invalid as invalid:
        errors: Errors = {child.node.name: [*child.messages()] for child in invalid.children}
        if city in errors and schema[city].is_other_place(texts[city]):
            errors[city].append(CONFIRM)
        raise InvalidFields(errors) from invalid
