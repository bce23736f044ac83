"""The values of a row as HTML, with what was searched marked: for tables, which have many of them.

``static/rows.js`` does the same in the browser; keep the two alike.
"""

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup, escape

from groundtransport.records.fields import Field
from groundtransport.records.list.highlight import Piece, pieces

# Markup, always: templates of many rows do not escape it again.
Cell = Callable[[Any], Markup]

# Joined, not formatted: there are thousands of cells, and a sum, which escapes plain texts, takes a third of the time.
_TAG, _NAME = Markup('<span class="tag" translate="no">'), Markup("</span> ")
_CALL, _NUMBER, _END = Markup('<a href="'), Markup('">'), Markup("</a>")
_CHOICE = Markup('<span class="badge status-{}">{}</span>')


def cell_of(node: Field, terms: list[str], translate: Callable[[str], str]) -> Cell:
    """Return what gives the HTML of a field's values, none for None; ``terms`` are the folded texts to mark in them."""
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
