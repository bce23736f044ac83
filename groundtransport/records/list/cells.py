"""Render the values of a row as HTML, with matches of the search in ``<mark>``.

``static/rows.js`` does the same in the browser; keep both in step.
"""

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup, escape

from groundtransport.records.fields import Field
from groundtransport.records.list.highlight import Piece, pieces

# Returns Markup, as templates of many rows do not escape it again.
Cell = Callable[[Any], Markup]

# Added, not formatted: a page has thousands of cells, and Markup's addition takes a third of the time of format().
_TAG, _NAME = Markup('<span class="tag" translate="no">'), Markup("</span> ")
_CALL, _NUMBER, _END = Markup('<a href="'), Markup('">'), Markup("</a>")
_CHOICE = Markup('<span class="badge status-{}">{}</span>')


def cell_of(node: Field, terms: list[str], translate: Callable[[str], str]) -> Cell:
    """Return a function from a field's value to its HTML (empty for None); ``terms`` are the folded terms to mark."""
    html = _html_of(node, terms, translate)
    nothing = Markup()
    return lambda value: nothing if value is None else html(value)


def _html_of(node: Field, terms: list[str], translate: Callable[[str], str]) -> Cell:
    if node.name == "airport_name":
        return lambda name: _TAG + _marked(name[-4:-1], terms) + _NAME + _marked(name[:-6], terms)
    if node.is_phone:
        return lambda number: _CALL + node.address(number) + _NUMBER + _marked(number, terms, is_phone=True) + _END
    if node.choices:
        badges = {code: _CHOICE.format(code, translate(label)) for code, label in node.choices}
        return lambda code: badges.get(code, escape(code))
    return lambda value: _marked(translate(node.shown(value)), terms)


def _marked(text: str, terms: list[str], *, is_phone: bool = False) -> Markup:
    return _joined(pieces(text, terms, is_phone=is_phone)) if terms else escape(text)


def _joined(parts: Iterable[Piece]) -> Markup:
    return Markup().join(Markup("<mark>{}</mark>").format(part) if hit else escape(part) for part, hit in parts)
