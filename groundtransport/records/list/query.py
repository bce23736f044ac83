"""What a list was asked for: from the address's names, ours or DataTables', to one frozen query. No database here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from pyramid.request import Request

from groundtransport.records.kind import Kind
from groundtransport.settings import PAGE_SIZES

NUMBER_MAX = 10**9  # past any page, and inside every integer column
TEXT_MAX = 1_000  # characters of a search or a filter; no field that is searched is as long
STATE_MAX = 8_000  # characters of a ``list_state``
LAST = "last"
MISSING = "missing"  # the filter whose value names a text filter: all the fields that this one looks in are empty
DELETION = ("deleted_at", "deleted_by")  # of a row in the list of the deleted
FURTHER = ("airport_code", "created_at", "updated_at", "version")  # of a row, besides id and the kind's fields


@dataclass(frozen=True)
class ListQuery:
    """What a list was asked for. ``filters`` holds those that were given; ``page_no`` is as it was sent."""

    q: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""  # a column, with '-' in front for descending; "" is newest first
    page_no: str = ""
    page_size: int = PAGE_SIZES[0]
    size_sent: bool = False
    deleted: bool = False  # the recently deleted in place of the live ones

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.filters)

    @property
    def too_long(self) -> list[str]:
        """Return the names of the search and the filters whose text is over TEXT_MAX: no list answers these."""
        return [name for name, text in {"q": self.q, **self.filters}.items() if len(text) > TEXT_MAX]

    def state(self, **changes: str) -> str:
        """Return the list's state as a query string, what was asked for and no more: links and redirects repeat it."""
        size = str(self.page_size) if self.size_sent else ""
        deleted = "1" if self.deleted else ""
        known = {"q": self.q, **self.filters, "sort": self.sort, "page_no": self.page_no, "page_size": size}
        known["deleted"] = deleted
        return urlencode([(name, value) for name, value in {**known, **changes}.items() if value])


def read_query(kind: Kind, values: Mapping[str, list[str]], default_size: int) -> ListQuery:
    """Return the query that stands in ``values``; what makes no sense, or is sent twice, gives the default."""
    once = only_once(values)
    given = {name: once[name].strip() for name in filter_names(kind) if once.get(name, "").strip()}
    if given.get(MISSING) not in kind.filters:
        given.pop(MISSING, None)
    return replace(
        read_page(values, default_size),
        q=once.get("q", "").strip(),
        filters=given,
        sort=_sort(kind, once.get("sort", "")),
        deleted=once.get("deleted") == "1" and can_restore(kind),
    )


def read_page(values: Mapping[str, list[str]], default_size: int) -> ListQuery:
    """Return the page and its size alone, of a list without filters."""
    once = only_once(values)
    size = once.get("page_size", "")
    return ListQuery(
        page_no=once["page_no"] if _page_number(once.get("page_no", "")) else "",
        page_size=int(size) if size in map(str, PAGE_SIZES) else default_size,
        size_sent=size in map(str, PAGE_SIZES),
    )


def only_once(values: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the parameters that were sent once: a repeated one counts as a wrong one."""
    return {name: texts[0] for name, texts in values.items() if len(texts) == 1}


def usual_size(request: Request) -> int:
    """Return the rows of a page where no address names them: as the person chose, else as the ini says."""
    return int(request.identity.preferences.get("page_size") or request.registry["settings"].page_size)


def of_request(kind: Kind, request: Request) -> ListQuery:
    """Return the query of a list's address, or the one that stands beside ``key`` in an edit link's."""
    return read_query(kind, request.GET.dict_of_lists(), usual_size(request))


def of_state(kind: Kind, state: str, default_size: int) -> ListQuery:
    """Return the query of a form's ``list_state``: only known names are taken from it."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(state[:STATE_MAX].removeprefix("?"), errors="replace"):
        values.setdefault(name, []).append(value)
    return read_query(kind, values, default_size)


def can_restore(kind: Kind) -> bool:
    """Whether the kind's deletions are soft."""
    return hasattr(kind.model, "deleted_at")


def filter_names(kind: Kind) -> list[str]:
    return [*kind.filters, "airport_name", "airport_code", *choices(kind), *ranges(kind), MISSING]


def choices(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by one of their choices."""
    return [name for name, node in kind.fields.items() if node.filter_control == "select"]


def ranges(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by range."""
    return [name for name, node in kind.fields.items() if node.filter_control == "range"]


def sortable(kind: Kind) -> list[str]:
    return ["id", *kind.fields, *FURTHER]


def _sort(kind: Kind, text: str) -> str:
    """Return a sort that makes sense, else ""."""
    name = text.removeprefix("-")
    name = "id" if name == "DT_RowId" else name
    return ("-" if text.startswith("-") else "") + name if name in sortable(kind) else ""


def _page_number(text: str) -> bool:
    return text == LAST or (bounded(text) or 0) > 0


def bounded(text: str) -> int | None:
    """Return a whole number of ASCII digits, NUMBER_MAX in place of a greater one; None for anything else."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")  # int() refuses thousands of digits
    return min(int(digits[:10] or 0), NUMBER_MAX)


def number(text: str) -> int | None:
    """Return a whole number of ASCII digits that is not absurd, else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def page_numbers(query: ListQuery, count: int) -> tuple[int, int]:
    """Return the page to show, the last one past the end, and the number of the last."""
    last = max(1, -(-count // query.page_size))
    return last if query.page_no == LAST else min(bounded(query.page_no) or 1, last), last


# DataTables


@dataclass(frozen=True)
class Slice:
    """What a DataTables request wants: its number, and rows by offset."""

    draw: int
    start: int
    length: int


def read_slice(sent: Mapping[str, list[str]], query: ListQuery) -> Slice:
    """Return the slice of a DataTables request; ``page_no`` and ``page_size`` serve where its own names are absent."""
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
    """Return the query with DataTables' search and order laid over it."""
    return replace(query, q=values.get("search[value]", "").strip() or query.q, sort=_order(kind, values) or query.sort)


def _order(kind: Kind, values: Mapping[str, str]) -> str:
    """Return DataTables' order as one of our sorts; "" where it makes no sense."""
    index = number(values.get("order[0][column]", ""))
    name = values.get("order[0][name]") or values.get(f"columns[{index}][data]", "")
    direction = values.get("order[0][dir]", "asc").lower()
    if direction not in ("asc", "desc") or name.startswith("-"):
        return ""
    return _sort(kind, f"-{name}" if direction == "desc" else name)
