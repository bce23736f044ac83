"""Pages of a list for programs: the first by the list's own search, the others from the last record on.

This is the only module of the API that knows how lists are searched. A page that begins behind a record, and not at
an offset, neither repeats nor skips records that do not change while a program reads the list.
"""

from dataclasses import dataclass, replace

from sqlalchemy import bindparam, select

from groundtransport.api.cursors import Cursor, decode, encode
from groundtransport.api.parameters import CURSOR, next_url, read_limit, read_parameters
from groundtransport.api.problems import ApiProblem, InvalidFields
from groundtransport.db.statement_cache import cached_statement
from groundtransport.i18n import _
from groundtransport.json_types import JsonObject
from groundtransport.records import validity, verification
from groundtransport.records.kind import Kind, choice_fields, range_fields
from groundtransport.records.links import LinkState
from groundtransport.records.list import pages
from groundtransport.records.list.execute import execute
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import (
    DELETION,
    LINK_STATE,
    MISSING,
    YES,
    ListQuery,
    can_restore,
    due_days,
    filter_names,
    read_query,
    row_names,
    sortable_columns,
)
from groundtransport.records.list.window import Window
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.request import Request

PAGING = ("limit", CURSOR)
NOT_A_VALUE = _("This is not one of the values: ${values}.")
NO_RANGE = _("Send a value, or a range such as 10..20, 10.. or ..20.")
NO_DATE = _("Send a date, such as 2026-11-03.")
TOO_SLOW = _("The search takes too long. Use longer terms, or a filter.")


@dataclass(frozen=True)
class ListRequest:
    """A page that a program asks for: the parameters, the list query, the number of items, and where it begins."""

    given: dict[str, str]
    query: ListQuery
    limit: int
    cursor: Cursor | None


def list_parameters(kind: Kind) -> dict[str, list[str] | None]:
    """Return the parameters of a kind's list besides PAGING: the valid values of each, None for any text."""
    sorts = [sign + name for name in sortable_columns(kind) for sign in ("", "-")]
    values: dict[str, list[str] | None] = {"q": None, **dict.fromkeys(filter_names(kind)), "sort": sorts}
    values |= {name: [code for code, _label in kind.fields[name].choices] for name in choice_fields(kind)}
    values[MISSING] = list(kind.filters)
    values[verification.VERIFIED] = list(verification.STATES)
    values[validity.VALIDITY] = list(validity.STATES)
    values |= {name: [YES] for name in kind.marks}
    values |= {name: list(LinkState) for name in values if name == LINK_STATE}
    return values | ({"deleted": ["0", "1"]} if can_restore(kind) else {})


def read_list(request: Request, kind: Kind) -> ListRequest:
    """Return what a request asks for. Raise InvalidFields."""
    known = list_parameters(kind)
    given = read_parameters(request, (*known, *PAGING))
    errors = {name: fault for name, text in given.items() if (fault := _fault(kind, known, name, text))}
    if errors:
        raise InvalidFields({name: [text] for name, text in errors.items()})
    values = {name: [text] for name, text in given.items() if name not in PAGING}
    query = read_query(kind, values, 10, due_days(request, kind))
    cursor = decode(request, _name(kind, query), given["cursor"]) if "cursor" in given else None
    return ListRequest(given, query, read_limit(given), cursor)


def _fault(kind: Kind, known: dict[str, list[str] | None], name: str, text: str) -> str:
    """Return why a parameter is invalid; "" if it is valid."""
    values = known.get(name)
    if values is not None and text not in values:
        return _(NOT_A_VALUE, mapping={"values": ", ".join(values)})
    if name in range_fields(kind) and kind.fields[name].range_of(text) is None:
        return NO_RANGE
    if name == verification.NOT_VERIFIED_SINCE and not verification.is_valid(name, text):
        return NO_DATE
    return ""


def _name(kind: Kind, query: ListQuery) -> str:
    """Return the text that names a query in the signature of its cursors."""
    return f"{kind.name}?{query.state()}"


def list_page(request: Request, kind: Kind, list_request: ListRequest) -> dict[str, object]:
    """Return a page as the API answers it. Raise ApiProblem (422) for a search that takes too long."""
    if list_request.cursor is None:
        found, cursor = _first_page(request, kind, list_request)
    else:
        found, cursor = _following_page(request, kind, list_request, list_request.cursor), list_request.cursor
    # One row more than the page has, not the total, tells whether there is a next page: the total is older.
    rows, has_next = found[: list_request.limit], len(found) > list_request.limit
    return {
        "items": rows,
        "total": cursor.total,
        "is_estimate": cursor.is_estimate,
        "next": _next(request, kind, list_request, replace(cursor, last_id=rows[-1]["id"])) if has_next else None,
    }


def _first_page(request: Request, kind: Kind, list_request: ListRequest) -> tuple[list[JsonObject], Cursor]:
    """Return up to one row more than the page has, and the cursor of the first page."""
    result = execute(request.dbsession, kind, list_request.query, Window(0, list_request.limit + 1))
    if result.truncated:
        raise ApiProblem(422, TOO_SLOW)
    total = None if result.is_uncounted else result.filtered
    return result.rows, Cursor(0, total=total, is_estimate=result.is_estimate)


def _following_page(request: Request, kind: Kind, list_request: ListRequest, cursor: Cursor) -> list[dict[str, object]]:
    """Return the rows behind the cursor's record, up to one more than the page has.

    The index ranges of ``Order.beyond`` are read one after the other.
    """
    most = list_request.limit + 1
    order, table = Order.of(kind, list_request.query), kind.model.__table__
    names = [*row_names(kind), *(DELETION if list_request.query.deleted else ())]
    base = [pages.scope(kind, list_request.query), *pages.conditions(kind, list_request.query)]
    rows: list[dict[str, object]] = []
    try:
        with Budget(request.dbsession) as budget, budget.limit():
            for index_range in order.beyond(cursor.key, cursor.last_id):
                if len(rows) < most:
                    query = select(*(table.c[name] for name in names)).where(*base, index_range)
                    query = query.order_by(*order.clauses()).limit(most - len(rows))
                    found = request.dbsession.execute(query).all()
                    rows += [validity.with_state(dict(zip(names, row, strict=True))) for row in found]
    except OutOfTime:
        raise ApiProblem(422, TOO_SLOW) from None
    return rows


def _next(request: Request, kind: Kind, list_request: ListRequest, cursor: Cursor) -> str:
    """Return the URL of the page behind the last row of this one."""
    order = Order.of(kind, list_request.query)
    if not order.is_by_id:
        number = kind.model.__table__.c.id
        shape = ("cursor key", kind.table, order.name)
        query = cached_statement(shape, lambda: select(order.key).where(number == bindparam("last_id")))
        key = request.dbsession.scalar(query, {"last_id": cursor.last_id})
        cursor = replace(cursor, key=key)
    return next_url(request, list_request.given, cursor=encode(request, _name(kind, list_request.query), cursor))
