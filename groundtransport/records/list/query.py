"""Parse the query string of a list, in its own parameter names or in DataTables', into a frozen ListQuery."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from groundtransport.indexes.spec import UNSORTED
from groundtransport.records import validity, verification
from groundtransport.records.kind import Kind, choice_fields, range_fields
from groundtransport.records.links import LinkState, link_fields
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.validity import VALIDITY
from groundtransport.request import Request
from groundtransport.settings import PAGE_SIZES, VERIFY_AFTER
from groundtransport.text import parse_number

NUMBER_MAX = 10**9  # beyond any page, and within every integer column
TEXT_MAX = 1_000  # characters of a search or a filter; every searched field is shorter
STATE_MAX = 8_000  # characters of a ``list_state``
LAST = "last"
MISSING = "missing"  # the filter for empty fields: its value is the name of a text filter, whose fields must be empty
BATCH = "batch"  # the filter for records that an import or a bulk action changed: its name in the activity log
YES = "yes"  # the only value of the filter OTHER_PLACE
LINK_STATE = "link_state"  # the filter for records by the result of their links' checks
DELETION = ("deleted_at", "deleted_by", "merged_into")  # further columns of deleted records
# Columns of a row besides id and the kind's fields.
FURTHER = ("airport_code", "verified_at", "verified_by", "created_at", "updated_at", "version")


@dataclass(frozen=True)
class ListQuery:
    """The search, filters, order and page of a list. ``filters`` holds non-empty filters; ``page_no`` is unparsed."""

    q: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""  # a column name, "-" before it for descending; "" for newest first
    page_no: str = ""
    page_size: int = PAGE_SIZES[0]
    size_sent: bool = False
    due_days: int = VERIFY_AFTER.usual  # days after which a record is due to be verified again
    columns: str = ""  # the shown columns in order, separated by commas; "" for the user's choice
    deleted: bool = False  # list deleted records instead of live ones

    @property
    def is_filtered(self) -> bool:
        """True if there is a search or a filter."""
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
        params |= {"columns": self.columns, "deleted": deleted}
        return urlencode([(name, value) for name, value in {**params, **changes}.items() if value])


def read_query(
    kind: Kind, values: Mapping[str, list[str]], default_size: int, due_days: int = VERIFY_AFTER.usual
) -> ListQuery:
    """Return the query that ``values`` (parameter name to its texts) hold; invalid or repeated ones are ignored.

    ``due_days`` are those after which a record of the kind is due to be verified again.
    """
    once = single_values(values)
    filters = {name: once[name].strip() for name in filter_names(kind) if once.get(name, "").strip()}
    if filters.get(MISSING) not in kind.filters:
        filters.pop(MISSING, None)
    for name in verification.FILTERS:
        if not verification.is_valid(name, filters.get(name, "")):
            filters.pop(name, None)
    for name, valid in ((LINK_STATE, list(LinkState)), (VALIDITY, list(validity.STATES)), (OTHER_PLACE, [YES])):
        if filters.get(name) not in valid:
            filters.pop(name, None)
    return replace(
        read_page(values, default_size),
        q=once.get("q", "").strip(),
        filters=filters,
        sort=_sort(kind, once.get("sort", "")),
        due_days=due_days,
        columns=",".join(valid_columns(kind, once.get("columns", ""))),
        deleted=once.get("deleted") == "1" and can_restore(kind),
    )


def read_page(values: Mapping[str, list[str]], default_size: int) -> ListQuery:
    """Return a query of the page number and size alone, for lists without filters."""
    once = single_values(values)
    size = once.get("page_size", "")
    return ListQuery(
        page_no=once["page_no"] if _page_number(once.get("page_no", "")) else "",
        page_size=int(size) if size in map(str, PAGE_SIZES) else default_size,
        size_sent=size in map(str, PAGE_SIZES),
    )


def single_values(values: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the parameters that were sent exactly once; a repeated parameter counts as invalid."""
    return {name: sent[0] for name, sent in values.items() if len(sent) == 1}


def default_page_size(request: Request) -> int:
    """Return the page size for URLs without one: the user's preference, else the setting."""
    return int(request.user.preferences.get("page_size") or request.registry["settings"].page_size)


def due_days(request: Request, kind: Kind) -> int:
    """Return the days after which a record of a kind is due to be verified again, by the ini."""
    days: int = request.registry["settings"].verify_after_days.of(kind.name)
    return days


def query_from_request(kind: Kind, request: Request) -> ListQuery:
    """Return the list query of a request's URL (of a list, or of an edit link, which carries it beside ``key``)."""
    values = request.GET.dict_of_lists()
    return read_query(kind, values, default_page_size(request), due_days(request, kind))


def query_from_state(kind: Kind, state: str, default_size: int, due_days: int = VERIFY_AFTER.usual) -> ListQuery:
    """Return the query of a form's ``list_state``, a query string; unknown parameters are ignored."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(state[:STATE_MAX].removeprefix("?"), errors="replace"):
        values.setdefault(name, []).append(value)
    return read_query(kind, values, default_size, due_days)


def can_restore(kind: Kind) -> bool:
    """Return True if the kind's records are deleted softly."""
    return hasattr(kind.model, "deleted_at")


def filter_names(kind: Kind) -> list[str]:
    """Return the names of the parameters that filter a kind's list."""
    own = (*kind.filters, "airport_name", "airport_code", *choice_fields(kind), *range_fields(kind))
    checks = [LINK_STATE] if link_fields(kind) else []
    return [*own, VALIDITY, MISSING, *verification.FILTERS, *kind.marks, *checks, BATCH]


def row_names(kind: Kind) -> list[str]:
    """Return the names of the values of a list's row."""
    return ["id", *kind.fields, *FURTHER, *kind.marks]


def valid_columns(kind: Kind, text: str) -> list[str]:
    """Return the columns that ``text`` names, separated by commas, without unknown and repeated ones."""
    return [name for name in dict.fromkeys(text.split(",")) if name in (*kind.columns, *kind.optional_columns)]


def shown_names(request: Request, kind: Kind, query: ListQuery) -> list[str]:
    """Return the columns that the query names, else those that the user has chosen, else the kind's; in order."""
    chosen = query.columns or request.user.preferences.get(f"columns.{kind.name}", "")
    return valid_columns(kind, chosen) or _not_hidden(request, kind)


def _not_hidden(request: Request, kind: Kind) -> list[str]:
    """Return the columns of a user who chose them before they had an order; else the kind's."""
    hidden = request.user.preferences.get(f"hidden.{kind.name}", "").split(",")
    shown = [name for name in kind.columns if name not in hidden]
    return [*(shown or kind.columns), *(name for name in kind.optional_columns if f"+{name}" in hidden)]


def sortable_columns(kind: Kind) -> list[str]:
    """Return the columns that a list can be sorted by."""
    return [name for name in row_names(kind) if name not in UNSORTED]


def _sort(kind: Kind, text: str) -> str:
    """Return ``text`` if it is a valid sort, else ""."""
    name = text.removeprefix("-")
    name = "id" if name == "DT_RowId" else name
    return ("-" if text.startswith("-") else "") + name if name in sortable_columns(kind) else ""


def _page_number(text: str) -> bool:
    return text == LAST or (parse_capped_int(text) or 0) > 0


def parse_capped_int(text: str) -> int | None:
    """Return the number of ASCII digits in ``text``, at most NUMBER_MAX; None for any other text."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")  # int() raises ValueError for thousands of digits
    return min(int(digits[:10] or 0), NUMBER_MAX)


def parse_int(text: str) -> int | None:
    """Return the number of at most nine ASCII digits, else None."""
    return parse_number(text, 9)


def page_numbers(query: ListQuery, count: int) -> tuple[int, int]:
    """Return the number of the page to show (the last one if the query's is beyond the end) and of the last page."""
    last = max(1, -(-count // query.page_size))
    return last if query.page_no == LAST else min(parse_capped_int(query.page_no) or 1, last), last


# DataTables


@dataclass(frozen=True)
class Slice:
    """The rows of a DataTables request, by offset, and its sequence number ``draw``."""

    draw: int
    start: int
    length: int


def read_slice(params: Mapping[str, list[str]], query: ListQuery) -> Slice:
    """Return the slice of a DataTables request; ``page_no`` and ``page_size`` are the defaults of start and length."""
    values = single_values(params)
    length = query.page_size
    if values.get("length") == "-1":
        length = max(PAGE_SIZES)
    else:
        length = min(parse_capped_int(values.get("length", "")) or length, max(PAGE_SIZES))
    start = parse_capped_int(values.get("start", ""))
    if start is None:
        start = ((parse_capped_int(query.page_no) or 1) - 1) * length
    return Slice(parse_int(values.get("draw", "")) or 0, min(start, NUMBER_MAX), length)


def with_datatables(kind: Kind, query: ListQuery, values: Mapping[str, str]) -> ListQuery:
    """Return the query with the search and order that DataTables' parameters give, if any."""
    return replace(query, q=values.get("search[value]", "").strip() or query.q, sort=_order(kind, values) or query.sort)


def _order(kind: Kind, values: Mapping[str, str]) -> str:
    """Return DataTables' order as a ``sort``; "" if it is invalid."""
    index = parse_int(values.get("order[0][column]", ""))
    name = values.get("order[0][name]") or values.get(f"columns[{index}][data]", "")
    direction = values.get("order[0][dir]", "asc").lower()
    if direction not in ("asc", "desc") or name.startswith("-"):
        return ""
    return _sort(kind, f"-{name}" if direction == "desc" else name)
