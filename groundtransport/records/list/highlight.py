"""Where a text matches what was searched: the pieces of it, for ``<mark>``. It compares as the search does.

``static/rows.js`` does the same in the browser; keep the two alike.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from groundtransport.records.kind import Kind
from groundtransport.records.list.query import ListQuery
from groundtransport.text import digits, fold

Piece = tuple[str, bool]  # a part of the text, and whether it matches
_PHONE = re.compile(r"[0-9+()./ -]*[0-9][0-9+()./ -]*", re.ASCII)
_fold = lru_cache(maxsize=4096)(fold)


def marked_by(kind: Kind, column: str) -> list[str]:
    """Return the names of the query, ``q`` and filters, that look for a part of a column's text."""
    if column == "airport_name":
        return ["q", "airport_name"]
    found = [name for name, fields in kind.filters.items() if column in fields]
    return ["q", *found] if found else []


def terms(kind: Kind, query: ListQuery, column: str) -> list[str]:
    """Return the folded texts that are looked for in a column."""
    found = []
    for name in marked_by(kind, column):
        found += fold(query.q).split() if name == "q" else [fold(query.filters.get(name, "")).strip()]
    return [term for term in found if term]


def pieces(text: str, wanted: list[str], *, is_phone: bool = False) -> list[Piece]:
    """Return ``text`` cut into parts that match one of the folded texts, and parts that do not."""
    hits = [False] * len(text)
    folded = [(char, index) for index, whole in enumerate(text) for char in _fold(whole)]
    for term in wanted:
        _mark(hits, folded, term)
        if is_phone and _PHONE.fullmatch(term):
            _mark(hits, [pair for pair in folded if pair[0] in "0123456789"], digits(term))
    return list(_cut(text, hits))


def _mark(hits: list[bool], folded: list[tuple[str, int]], term: str) -> None:
    """Set the hits of a term; what lies between two characters that match, a hyphen or an accent, belongs to it."""
    line = "".join(char for char, _ in folded)
    start = line.find(term) if term else -1
    while start >= 0:
        first, last = folded[start][1], folded[start + len(term) - 1][1]
        hits[first : last + 1] = [True] * (last + 1 - first)
        start = line.find(term, start + len(term))


def _cut(text: str, hits: list[bool]) -> Iterator[Piece]:
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or (hits[end] is not hits[start] and _fold(text[end])):
            yield text[start:end], hits[start]
            start = end
