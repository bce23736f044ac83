"""The columns of the list page, and its filters as chips."""

from dataclasses import dataclass

from markupsafe import Markup

from groundtransport.events import Values
from groundtransport.i18n import _
from groundtransport.indexes.spec import UNSORTED
from groundtransport.records import validity
from groundtransport.records.fields import DateField, Field
from groundtransport.records.kind import SOURCE, Kind
from groundtransport.records.links import STATE_TITLES
from groundtransport.records.list import highlight
from groundtransport.records.list.cells import Cell, cell_of, moment_cell
from groundtransport.records.list.query import LINK_STATE, TEXT_MAX, YES, ListQuery, shown_names
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.urls import list_url
from groundtransport.records.validity import VALIDITY
from groundtransport.records.verification import NOT_VERIFIED_SINCE, STATES, VERIFIED
from groundtransport.request import Request

FILTER_TITLES = {
    "q": _("Search"),
    "airport_name": _("Airport Name"),
    "airport_code": _("Airport Code"),
    "company_phone": _("Company Phone"),
    "batch": _("Batch"),
    VERIFIED: _("Verification"),
    NOT_VERIFIED_SINCE: _("Not verified since"),
    "link_state": _("Link check"),
    VALIDITY: _("Validity"),
    OTHER_PLACE: _("Another place"),
}
TIME_TITLES = {"verified_at": _("Verified"), "created_at": _("Created"), "updated_at": _("Changed")}
CHIP_MAX = 100  # characters; ``static/list.js`` cuts as well


@dataclass(frozen=True)
class Chip:
    """A filter in use; ``url`` is that of the list without it."""

    name: str
    title: str
    value: str
    url: str


@dataclass(frozen=True)
class Column:
    """A column of the list. ``cell`` renders a value as HTML; ``shown_as`` names the renderer in the scripts."""

    name: str
    title: str
    shown_as: str
    search_params: list[str]
    cell: Cell
    cell_in_link: Cell
    is_sortable: bool = True
    is_time: bool = False  # sorted from the oldest to the newest, not from A to Z
    in_place: str = ""  # how editors change a value in the list, as ``in_place`` returns it


def link_columns(kind: Kind, columns: list[Column]) -> list[str]:
    """Return the names of the columns that may link to the record: the first with a value does, else the last.

    ``static/list.js`` reads them from the table's attribute ``data-link-columns``.
    """
    names = [column.name for column in columns]
    return list(dict.fromkeys(name for name in (kind.label, "airport_name", names[0]) if name in names))


ShownCell = tuple[str, Markup, str]


def cells(columns: list[Column], links: list[str], row: Values) -> list[ShownCell]:
    """Return for each column of a row its name, the value's HTML and the element around it.

    That is "link" in the column that links to the record, and "" for no value and for a telephone number, which is a
    link already; else "line". ``links`` are the ``link_columns``.
    """
    linked = next((name for name in links if row[name]), links[-1])
    elements = [(column, _element(column, row, linked)) for column in columns]
    return [
        (column.name, (column.cell_in_link if element == "link" else column.cell)(row[column.name]), element)
        for column, element in elements
    ]


def validity_badges(request: Request) -> dict[str, Markup]:
    """Return the badge of each state of a record that is not current."""
    badge = Markup('<span class="badge status-{}">{}</span>')
    return {
        state: badge.format(state, request.translate(title))
        for state, title in validity.STATES.items()
        if state != validity.CURRENT
    }


def with_badge(kind: Kind, shown: list[ShownCell], row: Values, badge: Markup) -> list[ShownCell]:
    """Return the cells of a row that is not current: the badge stands for the active status.

    Without a status field, it follows what links to the record. ``static/rows.js`` does the same.
    """
    if not kind.status_field:
        return [(name, html + " " + badge if at == "link" else html, at) for name, html, at in shown]
    is_active = kind.is_active(row)
    return [(name, badge if is_active and name == kind.status_field else html, at) for name, html, at in shown]


def other_place_badge(request: Request) -> Markup:
    """Return the badge of a city that is none of the airport's."""
    return Markup('<span class="badge gap">{}</span>').format(request.translate(_("Another place")))


def with_mark(kind: Kind, shown: list[ShownCell], badge: Markup) -> list[ShownCell]:
    """Return the cells of a marked row, with the badge after its city. ``static/rows.js`` does the same."""
    return [(name, html + " " + badge if name == kind.marked_city else html, at) for name, html, at in shown]


def _element(column: Column, row: Values, linked: str) -> str:
    if column.shown_as == "phone" or row[column.name] is None:
        return ""
    return "link" if column.name == linked else "line"


def columns(request: Request, kind: Kind, query: ListQuery) -> list[Column]:
    """Return the columns of a list."""
    return [
        _column(request, kind, query, name) if name in kind.fields else _moments(request, name)
        for name in shown_names(request, kind, query)
    ]


def full_state(request: Request, kind: Kind, query: ListQuery) -> str:
    """Return the query string of the first page of a list, with the columns that the user sees."""
    return query.state(page_no="", columns=",".join(shown_names(request, kind, query)))


def offered(kind: Kind, shown: list[Column]) -> list[tuple[str, bool]]:
    """Return the columns that a user can choose, each with True if it is shown: these first, in their order."""
    names = [column.name for column in shown]
    others = [name for name in (*kind.columns, *kind.optional_columns) if name not in names]
    return [*((name, True) for name in names), *((name, False) for name in others)]


def _moments(request: Request, name: str) -> Column:
    """Return a column of times."""
    return Column(name, request.translate(TIME_TITLES[name]), "moment", [], moment_cell, moment_cell, is_time=True)


def _column(request: Request, kind: Kind, query: ListQuery, name: str) -> Column:
    node = kind.fields[name]
    terms = highlight.terms(kind, query, name)
    cell, in_link = (cell_of(node, terms, request.translate, in_link=is_link) for is_link in (False, True))
    search_params = highlight.search_params(kind, name)
    title = request.translate(column_title(node))
    is_time, is_sortable = isinstance(node, DateField), name not in UNSORTED
    return Column(name, title, node.shown_as, search_params, cell, in_link, is_sortable, is_time, in_place(node))


def in_place(node: Field) -> str:
    """Return how a field is changed in the list: "select", the ``inputmode`` of an input, or "form".

    "form" stands for the field in the form, "" for a field that only imports set.
    """
    if node.group == SOURCE:
        return ""
    if node.shown_as == "choice":
        return "select"
    is_line = node.template in ("textinput", "phone") and node.shown_as in ("text", "phone")
    attributes = node.attributes
    return attributes.get("inputmode", attributes.get("type", "text")) if is_line else "form"


def title_of(kind: Kind, name: str) -> str:
    """Return the title of a column that a user can choose."""
    return column_title(kind.fields[name]) if name in kind.fields else TIME_TITLES[name]


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
    by_filter: dict[str, dict[str, str]] = {
        LINK_STATE: {str(state): title for state, title in STATE_TITLES.items()},
        VALIDITY: validity.STATES,
        VERIFIED: STATES,
        OTHER_PLACE: {YES: _("Yes")},
    }
    titles = by_filter.get(name, {})
    text: str = request.translate(node.filter_shown(value) if node else titles.get(value, value))
    return text if len(text) <= CHIP_MAX else f"{text[:CHIP_MAX]}…"
