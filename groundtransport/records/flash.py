"""What a page tells of a save: the messages that wait, and which records may be the same as the one that was saved."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from pyramid.request import Request
from sqlalchemy import Select, bindparam, select

from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.duplicates.comparison import Similar, similar
from groundtransport.records.edit.hints import reasons_of, record_url
from groundtransport.records.kind import Kind
from groundtransport.records.search.time_limit import Budget, OutOfTime


def flash_messages(request: Request) -> list[dict[str, Any]]:
    """``request.flash_messages()``: the messages that wait for a page, each once, and what a save wants looked for.

    It is looked for now, by who reads it: no other writer waits for that.
    """
    told = request.session.pop_flash()
    looks = [message for message in told if "look_by" in message]
    if getattr(request, "exception", None) is None:  # an error page looks for nothing
        for message in looks:
            kind_name, record_id = message["record"]
            told += _warnings_of(request, kind_name, record_id, message["look_by"])
    return list(told)


def _warnings_of(request: Request, kind_name: str, record_id: int, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a warning for each record that may be the same as a saved one, by all its fields or by ``names``."""
    kind, dbsession = request.registry["kinds"].get(kind_name), request.dbsession
    found: list[Similar] = []
    with suppress(OutOfTime), Budget(dbsession) as budget, budget.limit(usual=True):
        row = dbsession.execute(_with_airport(kind), {"record_id": record_id}).one_or_none() if kind else None
        if row is not None:
            values = {name: getattr(row, name) for name in names or kind.fields}
            found = similar(dbsession, kind, row.Airport, values, record_id)
    return [_warning(request, kind, one) for one in found]


@cache
def _with_airport(kind: Kind) -> Select[Any]:
    """Return the query of a live record's fields, and its airport."""
    table = kind.model.__table__
    fields = (table.c[name] for name in kind.fields)
    query = select(*fields, Airport).join(Airport, Airport.id == table.c.airport_id)
    return query.where(table.c.id == bindparam("record_id"), kind.model.is_live())


def _warning(request: Request, kind: Kind, one: Similar) -> dict[str, Any]:
    reasons = reasons_of(request, one)
    text = _("{} at the same airport may be the same: ${reasons}.", mapping={"reasons": reasons})
    href = record_url(request, kind, one)
    return {"text": request.translate(text), "level": "warning", "name": one.label, "href": href}
