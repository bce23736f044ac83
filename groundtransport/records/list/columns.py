"""The columns of the list page, and its filters as chips."""

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
    """A filter in use; ``address`` is the URL of the list without it."""

    name: str
    title: str
    value: str
    address: str


@dataclass(frozen=True)
class Column:
    """A column of the list. ``cell`` renders a value as HTML; ``shown_as`` names the renderer in the scripts."""

    name: str
    title: str
    shown_as: str
    marked_by: list[str]
    cell: Cell

    @property
    def may_lead(self) -> bool:
        """Return True if the value may link to the record; a telephone number is a link already."""
        return self.shown_as != "phone"


def cells(columns: list[Column], row: dict[str, Any]) -> list[tuple[str, Markup, bool]]:
    """Return for each column of a row its name, the value's HTML, and True if that may link to the record."""
    return [
        (column.name, column.cell(value), column.may_lead and value is not None)
        for column, value in [(column, row[column.name]) for column in columns]
    ]


def columns(request: Request, kind: Kind, query: ListQuery) -> list[Column]:
    """Return the columns that the user has not hidden; all if that leaves none."""
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
    """Return the translated title of a filter."""
    title = FILTER_TITLES.get(name) or (kind.fields[name].title if name in kind.fields else name)
    text: str = request.translate(title)
    return text


def refusals(request: Request, kind: Kind, query: ListQuery) -> dict[str, str]:
    """Return the error messages of texts too long to search for, by parameter name."""
    return {name: too_long(request, filter_title(request, kind, name)) for name in query.too_long}


def too_long(request: Request, title: str) -> str:
    """Return the translated error message of a text too long to search for."""
    text = _("${field}: the text is longer than ${number} characters. Nothing was searched; shorten it.")
    message: str = request.translate(_(text, mapping={"field": title, "number": f"{TEXT_MAX:,}"}))
    return message


def chips(request: Request, kind: Kind, query: ListQuery) -> list[Chip]:
    """Return a chip for the search and for each filter of a query."""
    filters = {"q": query.q, **query.filters} if query.q else query.filters
    return [
        Chip(
            name,
            filter_title(request, kind, name),
            _shown(request, kind, name, value),
            list_url(request, kind, query.state(**{name: "", "page_no": ""})),
        )
        for name, value in filters.items()
    ]


def _shown(request: Request, kind: Kind, name: str, value: str) -> str:
    """Return the displayed value of a filter: the label of a choice, else the text, cut to CHIP_MAX."""
    node = kind.fields.get(name)
    text: str = request.translate(node.filter_shown(value)) if node else value
    return text if len(text) <= CHIP_MAX else f"{text[:CHIP_MAX]}…"
