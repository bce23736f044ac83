"""JSON texts of columns: by orjson, several times faster than the standard library, which does the rest."""

import json

import orjson

from groundtransport.json_types import Json


def dumps(value: object) -> str:
    """Return JSON values as a text. The standard library makes those with lone surrogates or huge numbers."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


def loads(text: str | bytes) -> Json:
    """Return the JSON values of a text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)
