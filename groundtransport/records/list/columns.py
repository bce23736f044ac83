"""What the list's page shows around its rows: the columns that are not hidden, and the filters as chips."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from pyramid.request import Request

from groundtransport.i18n import _
from groundtransport.records.fields import Field
from groundtransport.records.kind import Kind
from groundtransport.records.list import highlight
from groundtransport.records.list.cells import Cell, cell_of
from groundtransport.records.list.query import TEXT_MAX, ListQuery
from groundtransport.records.urls import list_url

FILTER_TITLES = {
    "q": _("Search"),
    "airport_name": _("Airport Name"),
    "airport_code": _("Airport Code"),
    "company_phone": _("Company Phone"),
}
CHIP_MAX = 100  # characters; ``static/list.js`` cuts as well


@dataclass(frozen=True)
class Chip:
    """A filter in use, and the address of the list without it."""

    name: str
    title: str
    value: str
    address: str


@dataclass(frozen=True)
class Column:
    """A column of the list. ``cell`` gives a value's HTML; ``shown_as`` tells scripts how they make it."""

    name: str
    title: str
    shown_as: str
    marked_by: list[str]
    cell: Cell

    @property
    def may_lead(self) -> bool:
        """Whether a value may be the link to the record: a phone's is a link already."""
        return self.shown_as != "phone"


def cells(columns: list[Column], row: dict[str, Any]) -> list[tuple[str, Markup, bool]]:
    """Return what a row shows: each column's name, the value's HTML, and whether that may be the link to the record."""
    return [
        (column.name, column.cell(value), column.may_lead and value is not None)
        for column, value in [(column, row[column.name]) for column in columns]
    ]


def columns(request: Request, kind: Kind, query: ListQuery) -> list[Column]:
    """Return the columns that the signed-in person did not hide."""
    hidden = request.identity.preferences.get(f"hidden.{kind.name}", "").split(",")
    return [
        _column(request, kind, query, name)
        for name in [name for name in kind.columns if name not in hidden] or kind.columns
    ]


def _column(request: Request, kind: Kind, query: ListQuery, name: str) -> Column:
    node = kind.fields[name]
    cell = cell_of(node, highlight.terms(kind, query, name), request.translate)
    marked_by = highlight.marked_by(kind, name)
    return Column(name, request.translate(column_title(node)), node.shown_as, marked_by, cell)


def column_title(node: Field) -> str:
    """Return the title of a field's column: a short one, if the field has one."""
    title: str = node.column_title or node.title  # as it is: a copy as plain text would lose its translation
    return title


def filter_title(request: Request, kind: Kind, name: str) -> str:
    """Return what people call a filter."""
    title = FILTER_TITLES.get(name) or (kind.fields[name].title if name in kind.fields else name)
    text: str = request.translate(title)
    return text


def refusals(request: Request, kind: Kind, query: ListQuery) -> dict[str, str]:
    """Return why texts are not looked for, by the name of the search or the filter; nothing is found then."""
    return {name: too_long(request, filter_title(request, kind, name)) for name in query.too_long}


def too_long(request: Request, title: str) -> str:
    """Return the refusal of a text to look for that is too long."""
    text = _("${field}: the text is longer than ${number} characters. Nothing was searched; shorten it.")
    told: str = request.translate(_(text, mapping={"field": title, "number": f"{TEXT_MAX:,}"}))
    return told


def chips(request: Request, kind: Kind, query: ListQuery) -> list[Chip]:
    """Return the search and the filters of a query, each with the way to be rid of it."""
    given = {"q": query.q, **query.filters} if query.q else query.filters
    return [
        Chip(
            name,
            filter_title(request, kind, name),
            _shown(request, kind, name, value),
            list_url(request, kind, query.state(**{name: "", "page_no": ""})),
        )
        for name, value in given.items()
    ]


def _shown(request: Request, kind: Kind, name: str, value: str) -> str:
    """Return the value of a filter as people read it: the label of a choice, else what was typed, cut."""
    node = kind.fields.get(name)
    text: str = request.translate(node.filter_shown(value)) if node else value
    return text if len(text) <= CHIP_MAX else f"{text[:CHIP_MAX]}…"
