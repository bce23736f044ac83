"""Searching: one folded text a record, the same for both databases.

The text is ``airport name | filter 1 | ... | filter n | phone digits``, in the order of ``Kind.filters``, with a
separator between the parts and another between the fields of one part; no word can cross either.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, or_, true

from groundtransport.records.kind import Kind
from groundtransport.text import FIELD, PART, digits, fold

QUERY_MAX = 1_000  # characters; no field that is searched is as long
_PHONE = re.compile(r"[0-9+()./-]*[0-9][0-9+()./-]*", re.ASCII)


def search_text(kind: Kind, values: Mapping[str, Any]) -> str:
    """Return the ``search_text`` of a record with these values."""
    parts = [fold(values["airport_name"])]
    for fields in kind.filters.values():
        parts.append(FIELD.join(fold(values.get(name) or "") for name in fields))
    parts.append(FIELD.join(digits(fold(values.get(name) or "")) for name in _phones(kind)))
    return PART.join(parts)


def matches(kind: Kind, query: str) -> ColumnElement[bool]:
    """Return the condition that every word of ``query`` stands somewhere in the record."""
    words = fold(query).split() if len(query) <= QUERY_MAX else None
    if words is None:
        return false()
    return and_(true(), *(_word(kind, word) for word in dict.fromkeys(words)))


def _word(kind: Kind, word: str) -> ColumnElement[bool]:
    anywhere = kind.model.search_text.contains(word, autoescape=True)
    if not _PHONE.fullmatch(word) or word.isdigit():
        return anywhere  # bare digits are part of the text already
    return or_(anywhere, _digits_match(kind, word))


def filter_matches(kind: Kind, name: str, text: str) -> ColumnElement[bool]:
    """Return the condition that one filter's fields (or the airport's name) hold ``text``."""
    wanted = fold(text).strip()
    if len(wanted) > QUERY_MAX:
        return false()
    number = 1 if name == "airport_name" else list(kind.filters).index(name) + 2
    found = and_(kind.model.search_text.contains(wanted, autoescape=True), _part_holds(kind, number, wanted))
    looks_in_phones = set(kind.filters.get(name, ())) & set(_phones(kind))
    if looks_in_phones and _PHONE.fullmatch(wanted.replace(" ", "")):
        return or_(found, _digits_match(kind, wanted))
    return found


def _digits_match(kind: Kind, text: str) -> ColumnElement[bool]:
    return _part_holds(kind, len(kind.filters) + 2, digits(text))


def _part_holds(kind: Kind, number: int, wanted: str) -> ColumnElement[bool]:
    part = func.split_part(kind.model.search_text, PART, number)
    return part.contains(wanted, autoescape=True)


def _phones(kind: Kind) -> Iterable[str]:
    return [name for name, node in kind.fields.items() if getattr(node, "is_phone", False)]
