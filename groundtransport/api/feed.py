"""``GET /api/v1/changes``: the feed of changes, oldest first, from the entry behind a number on.

The numbers have no gaps and follow the order of the commits, so a client that stores the last one misses nothing and
sees nothing twice.
"""

from collections.abc import Mapping

import orjson
from sqlalchemy import ColumnElement, Text, func, select, type_coerce
from sqlalchemy.orm import Session

from groundtransport.api.entries import of_kinds
from groundtransport.api.parameters import next_url, read_limit, read_number, read_parameters, with_link
from groundtransport.api.problems import ApiProblem, InvalidFields
from groundtransport.api.representation import ENTRY_NAMES
from groundtransport.api.view import Operation, api_view
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.db import table_of
from groundtransport.i18n import _
from groundtransport.json_types import JsonObject
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import row_names
from groundtransport.records.validity import with_state
from groundtransport.request import Request
from groundtransport.resources import Api
from groundtransport.security import Permission

PATH = "/api/v1/changes"
NUMBER_MAX = 10**18 - 1
WAIT_MAX = 30  # seconds
ARCHIVED = _("The entries up to number ${number} were archived. Read all records again, then go on from there.")
NOT_YET = _("There is no entry of this number yet; the last one is ${number}.")


@api_view(
    Operation("change-page", parameters=("after", "limit", "wait"), statuses=(410,)),
    context=Api,
    name="changes",
    request_method="GET",
    permission=Permission.VIEW,
)
def changes(context: Api, request: Request) -> JsonObject:
    """Read the changes behind entry ``after``, oldest first, each with the record as it is now.

    The server holds a request with ``wait`` back before it comes here: server/waiting.py.
    """
    given = read_parameters(request, ("after", "limit", "wait"))
    after, limit = read_number(given, "after", 0, NUMBER_MAX, 0), read_limit(given)
    read_number(given, "wait", 0, WAIT_MAX, 0)
    head = head_number(request.dbsession)
    check_position(request.dbsession, after, head)
    items = entries_behind(request.dbsession, after, limit, head, *of_kinds(request))
    last = items[-1]["id"] if len(items) == limit else head
    add_records(request.dbsession, request.registry["kinds"], items)
    url = next_url(request, given, after=last)
    return with_link(request, {"items": items, "last": last, "next": url})


def head_number(dbsession: Session) -> int:
    """Return the number of the last entry."""
    return dbsession.scalar(select(AuditHead.number).where(AuditHead.id == 1)) or 0


def check_position(dbsession: Session, after: int, head: int) -> None:
    """Raise ApiProblem (410) if entries behind ``after`` were archived, InvalidFields if it is beyond the last one."""
    if after > head:
        raise InvalidFields({"after": [_(NOT_YET, mapping={"number": str(head)})]})
    first = dbsession.scalar(select(func.min(AdminActivity.id))) or head + 1
    if after + 1 < first:
        raise ApiProblem(410, _(ARCHIVED, mapping={"number": str(first - 1)}), first=first)


def entries_behind(
    dbsession: Session, after: int, limit: int, head: int, *where: ColumnElement[bool]
) -> list[JsonObject]:
    """Return up to ``limit`` entries with numbers above ``after`` and up to ``head``, oldest first.

    Their ``changes`` are the stored text, for orjson: to parse it would take a quarter of the time.
    """
    table = table_of(AdminActivity).c
    columns = [type_coerce(table.changes, Text) if name == "changes" else table[name] for name in ENTRY_NAMES]
    query = select(*columns).where(table.id > after, table.id <= head, *where).order_by(table.id).limit(limit)
    items = [dict(zip(ENTRY_NAMES, row, strict=True)) for row in dbsession.connection().execute(query).all()]
    for item in items:
        item["changes"] = orjson.Fragment(item["changes"])
    return items


def add_records(dbsession: Session, kinds: Mapping[str, Kind], items: list[JsonObject]) -> None:
    """Add to each entry its record as it is now, as ``record``; None if it is deleted."""
    records: dict[tuple[str, int], JsonObject] = {}
    for name, kind in kinds.items():
        ids = {item["record_id"] for item in items if item["kind"] == name}
        if ids:
            names = row_names(kind)
            query = select(*(kind.model.__table__.c[column] for column in names))
            wanted = query.where(kind.model.id.in_(ids), kind.model.is_live())
            rows = dbsession.connection().execute(wanted).all()
            records |= {(name, row.id): with_state(dict(zip(names, row, strict=True))) for row in rows}
    for item in items:
        item["record"] = records.get((item["kind"], item["record_id"]))
