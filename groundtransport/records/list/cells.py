"""Render the values of a row as HTML, with matches of the search in ``<mark>``.

``static/rows.js`` does the same in the browser; keep both in step.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from markupsafe import Markup, escape

from groundtransport.records.fields import Field
from groundtransport.records.list.highlight import Piece, pieces

# Returns Markup, as templates of many rows do not escape it again.
Cell = Callable[[Any], Markup]


def cell_of(node: Field, terms: list[str], translate: Callable[[str], str]) -> Cell:
    """Return a function from a field's value to its HTML (empty for None); ``terms`` are the folded terms to mark."""
    html = node.cell(partial(_marked, terms=terms, is_phone=node.searches_digits), translate)
    nothing = Markup()
    return lambda value: nothing if value is None else html(value)


def _marked(text: str, terms: list[str], *, is_phone: bool) -> Markup:
    return _joined(pieces(text, terms, is_phone=is_phone)) if terms else escape(text)


def _joined(parts: Iterable[Piece]) -> Markup:
    return Markup().join(Markup("<mark>{}</mark>").format(part) if hit else escape(part) for part, hit in parts)
