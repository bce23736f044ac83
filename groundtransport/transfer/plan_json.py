"""Convert texts of a plan to JSON values and back: translation strings, and cells with invalid bytes."""

import re

from translationstring import TranslationString

from groundtransport.i18n import DOMAIN
from groundtransport.json_types import Json

_UNREADABLE = re.compile("[\0\ud800-\udfff]")  # surrogates stand for invalid bytes: see reading/csv_rows.py


def readable(data: Json) -> Json:
    """Return JSON values for a page: bytes that are invalid in the file's encoding, and NUL, as U+FFFD."""
    match data:
        case str():
            return _UNREADABLE.sub("\ufffd", data)
        case list():
            return [readable(value) for value in data]
        case dict():
            return {readable(name): readable(value) for name, value in data.items()}
    return data


def text_to_json(text: str | tuple[str, ...]) -> Json:
    """Return a text as JSON values: a translation string as ``{"text": msgid, "values": {...}}``, others as strings.

    The name of a country has its ``domain`` besides.
    """
    if isinstance(text, tuple):
        return [text_to_json(part) for part in text]
    if not isinstance(text, TranslationString):
        return text
    data = {"text": str(text), "values": {name: text_to_json(value) for name, value in (text.mapping or {}).items()}}
    return data if text.domain == DOMAIN else {**data, "domain": text.domain}


def text_from_json(data: Json) -> Json:
    """Return the text that ``text_to_json`` made; a translation string can be translated again."""
    if isinstance(data, list):
        return tuple(text_from_json(part) for part in data)
    if not isinstance(data, dict):
        return data
    values = {name: text_from_json(value) for name, value in data["values"].items()}
    return TranslationString(data["text"], domain=data.get("domain", DOMAIN), mapping=values)
