"""Split texts into matching and other parts, for ``<mark>``, by the comparison that the search uses.

``static/rows.js`` does the same in the browser; keep both in step.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from groundtransport.records.kind import Kind
from groundtransport.records.list.query import ListQuery
from groundtransport.text import digits, fold

Piece = tuple[str, bool]  # a part of a text, and True if it matches
_PHONE = re.compile(r"[0-9+()./ -]*[0-9][0-9+()./ -]*", re.ASCII)
_fold = lru_cache(maxsize=4096)(fold)


def search_params(kind: Kind, column: str) -> list[str]:
    """Return the parameters (``q`` and filters) whose texts are searched in a column."""
    if column == "airport_name":
        return ["q", "airport_name"]
    names = [name for name, fields in kind.filters.items() if column in fields]
    return ["q", *names] if names else []


def terms(kind: Kind, query: ListQuery, column: str) -> list[str]:
    """Return the folded terms that are searched in a column."""
    terms = []
    for name in search_params(kind, column):
        terms += fold(query.q).split() if name == "q" else [fold(query.filters.get(name, "")).strip()]
    return [text for text in terms if text]


def pieces(text: str, terms: list[str], *, is_phone: bool = False) -> list[Piece]:
    """Return the parts of ``text`` that match one of the folded ``terms``, and the parts between."""
    hits = [False] * len(text)
    folded = [(char, index) for index, char_of_text in enumerate(text) for char in _fold(char_of_text)]
    for term in terms:
        _mark(hits, folded, term)
        if is_phone and _PHONE.fullmatch(term):
            _mark(hits, [pair for pair in folded if pair[0] in "0123456789"], digits(term))
    return list(_cut(text, hits))


def _mark(hits: list[bool], folded: list[tuple[str, int]], term: str) -> None:
    """Set the hits of a term; unfolded characters between two matches (a hyphen, an accent) match too."""
    line = "".join(char for char, _ in folded)
    start = line.find(term) if term else -1
    while start >= 0:
        first, last = folded[start][1], folded[start + len(term) - 1][1]
        hits[first : last + 1] = [True] * (last + 1 - first)
        start = line.find(term, start + len(term))


def _cut(text: str, hits: list[bool]) -> Iterator[Piece]:
    """Yield the runs of equal ``hits``; a combining character stays with the one before it."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or (hits[end] is not hits[start] and _fold(text[end])):
            yield text[start:end], hits[start]
            start = end
