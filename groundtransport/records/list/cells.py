"""Render the values of a row as HTML, with matches of the search in ``<mark>``.

``static/rows.js`` does the same in the browser; keep both in step.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial

from markupsafe import Markup, escape

from groundtransport.formats import moment
from groundtransport.records.fields import Field
from groundtransport.records.list.highlight import Piece, pieces

# Returns Markup, as templates of many rows do not escape it again.
Cell = Callable[[object], Markup]


def cell_of(node: Field, terms: list[str], translate: Callable[[str], str], *, in_link: bool = False) -> Cell:
    """Return a function from a field's value to its HTML (empty for None); ``terms`` are the folded terms to mark.

    With ``in_link``, the HTML holds no link.
    """
    make = node.cell_in_link if in_link else node.cell
    html = make(partial(_marked, terms=terms, is_phone=node.searches_digits), translate)
    nothing = Markup()
    return lambda value: nothing if value is None else html(value)


def moment_cell(value: object) -> Markup:
    """Return a time as HTML; nothing for None."""
    if not isinstance(value, datetime):
        return Markup()
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(timespec="milliseconds"), moment(value))


def _marked(text: str, terms: list[str], *, is_phone: bool) -> Markup:
    return _joined(pieces(text, terms, is_phone=is_phone)) if terms else escape(text)


def _joined(parts: Iterable[Piece]) -> Markup:
    return Markup().join(Markup("<mark>{}</mark>").format(part) if hit else escape(part) for part, hit in parts)
