"""Parse the query string of a list, in its own parameter names or in DataTables', into a frozen ListQuery."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from pyramid.request import Request

from groundtransport.records.kind import Kind
from groundtransport.settings import PAGE_SIZES

NUMBER_MAX = 10**9  # beyond any page, and within every integer column
TEXT_MAX = 1_000  # characters of a search or a filter; every searched field is shorter
STATE_MAX = 8_000  # characters of a ``list_state``
LAST = "last"
MISSING = "missing"  # the filter for empty fields: its value is the name of a text filter, whose fields must be empty
DELETION = ("deleted_at", "deleted_by")  # further columns of deleted records
FURTHER = ("airport_code", "created_at", "updated_at", "version")  # columns of a row besides id and the kind's fields


@dataclass(frozen=True)
class ListQuery:
    """The search, filters, order and page of a list. ``filters`` holds non-empty filters; ``page_no`` is unparsed."""

    q: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""  # a column name, "-" before it for descending; "" for newest first
    page_no: str = ""
    page_size: int = PAGE_SIZES[0]
    size_sent: bool = False
    deleted: bool = False  # list deleted records instead of live ones

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.filters)

    @property
    def too_long(self) -> list[str]:
        """Return the names of the parameters longer than TEXT_MAX; the views refuse a query that has any."""
        return [name for name, text in {"q": self.q, **self.filters}.items() if len(text) > TEXT_MAX]

    def state(self, **changes: str) -> str:
        """Return the query string of links and redirects: the given parameters alone, with ``changes`` applied."""
        size = str(self.page_size) if self.size_sent else ""
        deleted = "1" if self.deleted else ""
        params = {"q": self.q, **self.filters, "sort": self.sort, "page_no": self.page_no, "page_size": size}
        params["deleted"] = deleted
        return urlencode([(name, value) for name, value in {**params, **changes}.items() if value])


def read_query(kind: Kind, values: Mapping[str, list[str]], default_size: int) -> ListQuery:
    """Return the query that ``values`` (parameter name to its texts) hold; invalid or repeated ones are ignored."""
    once = only_once(values)
    filters = {name: once[name].strip() for name in filter_names(kind) if once.get(name, "").strip()}
    if filters.get(MISSING) not in kind.filters:
        filters.pop(MISSING, None)
    return replace(
        read_page(values, default_size),
        q=once.get("q", "").strip(),
        filters=filters,
        sort=_sort(kind, once.get("sort", "")),
        deleted=once.get("deleted") == "1" and can_restore(kind),
    )


def read_page(values: Mapping[str, list[str]], default_size: int) -> ListQuery:
    """Return a query of the page number and size alone, for lists without filters."""
    once = only_once(values)
    size = once.get("page_size", "")
    return ListQuery(
        page_no=once["page_no"] if _page_number(once.get("page_no", "")) else "",
        page_size=int(size) if size in map(str, PAGE_SIZES) else default_size,
        size_sent=size in map(str, PAGE_SIZES),
    )


def only_once(values: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the parameters that were sent exactly once; a repeated parameter counts as invalid."""
    return {name: texts[0] for name, texts in values.items() if len(texts) == 1}


def usual_size(request: Request) -> int:
    """Return the page size for URLs without one: the user's preference, else the setting."""
    return int(request.identity.preferences.get("page_size") or request.registry["settings"].page_size)


def of_request(kind: Kind, request: Request) -> ListQuery:
    """Return the list query of a request's URL (of a list, or of an edit link, which carries it beside ``key``)."""
    return read_query(kind, request.GET.dict_of_lists(), usual_size(request))


def of_state(kind: Kind, state: str, default_size: int) -> ListQuery:
    """Return the query of a form's ``list_state``, a query string; unknown parameters are ignored."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(state[:STATE_MAX].removeprefix("?"), errors="replace"):
        values.setdefault(name, []).append(value)
    return read_query(kind, values, default_size)


def can_restore(kind: Kind) -> bool:
    """Return True if the kind's records are deleted softly."""
    return hasattr(kind.model, "deleted_at")


def filter_names(kind: Kind) -> list[str]:
    """Return the names of the parameters that filter a kind's list."""
    return [*kind.filters, "airport_name", "airport_code", *choices(kind), *ranges(kind), MISSING]


def choices(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by one of their choices, by exact value."""
    return [name for name, node in kind.fields.items() if node.filter_control == "select"]


def ranges(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by range."""
    return [name for name, node in kind.fields.items() if node.filter_control == "range"]


def sortable(kind: Kind) -> list[str]:
    """Return the columns that a list can be sorted by."""
    return ["id", *kind.fields, *FURTHER]


def _sort(kind: Kind, text: str) -> str:
    """Return ``text`` if it is a valid sort, else ""."""
    name = text.removeprefix("-")
    name = "id" if name == "DT_RowId" else name
    return ("-" if text.startswith("-") else "") + name if name in sortable(kind) else ""


def _page_number(text: str) -> bool:
    return text == LAST or (bounded(text) or 0) > 0


def bounded(text: str) -> int | None:
    """Return the number of ASCII digits in ``text``, at most NUMBER_MAX; None for any other text."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")  # int() raises ValueError for thousands of digits
    return min(int(digits[:10] or 0), NUMBER_MAX)


def number(text: str) -> int | None:
    """Return the number of at most nine ASCII digits, else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def page_numbers(query: ListQuery, count: int) -> tuple[int, int]:
    """Return the number of the page to show (the last one if the query's is beyond the end) and of the last page."""
    last = max(1, -(-count // query.page_size))
    return last if query.page_no == LAST else min(bounded(query.page_no) or 1, last), last


# DataTables


@dataclass(frozen=True)
class Slice:
    """The rows of a DataTables request, by offset, and its sequence number ``draw``."""

    draw: int
    start: int
    length: int


def read_slice(sent: Mapping[str, list[str]], query: ListQuery) -> Slice:
    """Return the slice of a DataTables request; ``page_no`` and ``page_size`` are the defaults of start and length."""
    values = only_once(sent)
    length = query.page_size
    if values.get("length") == "-1":
        length = max(PAGE_SIZES)
    else:
        length = min(bounded(values.get("length", "")) or length, max(PAGE_SIZES))
    start = bounded(values.get("start", ""))
    if start is None:
        start = ((bounded(query.page_no) or 1) - 1) * length
    return Slice(number(values.get("draw", "")) or 0, min(start, NUMBER_MAX), length)


def with_datatables(kind: Kind, query: ListQuery, values: Mapping[str, str]) -> ListQuery:
    """Return the query with the search and order that DataTables' parameters give, if any."""
    return replace(query, q=values.get("search[value]", "").strip() or query.q, sort=_order(kind, values) or query.sort)


def _order(kind: Kind, values: Mapping[str, str]) -> str:
    """Return DataTables' order as a ``sort``; "" if it is invalid."""
    index = number(values.get("order[0][column]", ""))
    name = values.get("order[0][name]") or values.get(f"columns[{index}][data]", "")
    direction = values.get("order[0][dir]", "asc").lower()
    if direction not in ("asc", "desc") or name.startswith("-"):
        return ""
    return _sort(kind, f"-{name}" if direction == "desc" else name)
