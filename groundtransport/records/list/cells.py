"""The values of a row as HTML, with what was searched marked: for tables, which have many of them.

``static/rows.js`` does the same in the browser; keep the two alike.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from markupsafe import Markup, escape

from groundtransport.records.fields import Field
from groundtransport.records.list.highlight import Piece, pieces

# Markup, always: templates of many rows do not escape it again.
Cell = Callable[[Any], Markup]


def cell_of(node: Field, terms: list[str], translate: Callable[[str], str]) -> Cell:
    """Return what gives the HTML of a field's values, none for None; ``terms`` are the folded texts to mark in them."""
    html = node.cell(partial(_marked, terms=terms, is_phone=node.searches_digits), translate)
    nothing = Markup()
    return lambda value: nothing if value is None else html(value)


def _marked(text: str, terms: list[str], *, is_phone: bool) -> Markup:
    return _joined(pieces(text, terms, is_phone=is_phone)) if terms else escape(text)


def _joined(parts: Iterable[Piece]) -> Markup:
    return Markup().join(Markup("<mark>{}</mark>").format(part) if hit else escape(part) for part, hit in parts)
