"""Guess which field each column of a file holds, by the titles in its header."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from groundtransport.i18n import in_every_language
from groundtransport.records.kind import Kind
from groundtransport.text import fold
from groundtransport.transfer.column_synonyms import BY_FIELD, LABEL
from groundtransport.transfer.plan_types import FURTHER_COLUMNS

# Columns that we add to the file of refused rows; they are ignored when it comes back.
REFUSED_COLUMNS = ("line", "field", "value", "reason")


def guess_mapping(kind: Kind, header: Sequence[str]) -> dict[int, str | None]:
    """Return the field of each column: a name of ``kind.fields`` or of FURTHER_COLUMNS, or None for an unknown column.

    A column is known by the field's name, by its title in any language, by a synonym, or by what stands before a
    bracket, in this order; case, accents, blanks and symbols do not count. A field has one column, the first.
    """
    keys = [_key(title) for title in header]
    mapping: dict[int, str | None] = dict.fromkeys(range(len(header)))
    ignored = refused_columns(header)
    names, titles, synonyms = _titles(kind)
    before_brackets = [_key(title.partition("(")[0].partition("[")[0]) for title in header]
    every_title = {**synonyms, **titles, **names}
    for known, its_keys in ((names, keys), (titles, keys), (synonyms, keys), (every_title, before_brackets)):
        for index, key in enumerate(its_keys):
            name = known.get(key)
            if name and index not in ignored and mapping[index] is None and name not in mapping.values():
                mapping[index] = name
    return mapping


def _key(title: str) -> str:
    return re.sub(r"[\W_]+", "", fold(title))


def refused_columns(header: Sequence[str]) -> set[int]:
    """Return the indexes of REFUSED_COLUMNS, if a header has all of them; the last ones, because a file can have a
    column ``Line`` of its own.
    """
    last = {key: index for index, title in enumerate(header) if (key := _key(title)) in REFUSED_COLUMNS}
    return {*last.values()} if len(last) == len(REFUSED_COLUMNS) else set()


@cache
def _titles(kind: Kind) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the fields by the keys of their names, of their titles, and of their synonyms."""
    names = {_key(name): name for name in (*kind.fields, *FURTHER_COLUMNS)}
    titles: dict[str, str] = {}
    synonyms = {synonym: name for name in FURTHER_COLUMNS for synonym in BY_FIELD.get(name, ())}
    for name, node in kind.fields.items():
        for title in (node.title, node.column_title):
            for text in in_every_language(title) if title else ():
                titles.setdefault(_key(text), name)
    for name in kind.fields:
        for synonym in _synonyms(kind, name):
            synonyms.setdefault(synonym, name)
    return names, titles, synonyms


def _synonyms(kind: Kind, name: str) -> Iterator[str]:
    node = kind.fields[name]
    yield from BY_FIELD.get(name, ())
    if name == kind.label:
        yield from LABEL
    others = [other for other, field in kind.fields.items() if field.synonyms == node.synonyms]
    number = others.index(name) + 1
    for synonym in node.synonyms:
        yield synonym if number == 1 else f"{synonym}{number}"
        yield f"{synonym}{number}"
