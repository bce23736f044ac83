"""The flash messages of a page, with a warning for each possible duplicate of a record that was just saved."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from sqlalchemy import bindparam, select

from groundtransport.airports.models import Airport
from groundtransport.db import AnySelect
from groundtransport.i18n import _
from groundtransport.records.duplicates.comparison import Similar, similar
from groundtransport.records.edit.hints import reasons_of, record_url
from groundtransport.records.flash import Flash, pop_messages
from groundtransport.records.kind import Kind
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.request import Request


def flash_messages(request: Request) -> list[Flash]:
    """``request.flash_messages()``: return and remove the stored messages, and the warnings of duplicates.

    The search for duplicates runs in the request that shows the messages, so that it does not prolong the
    transaction of the save. An error page does not search.
    """
    messages = pop_messages(request)
    if getattr(request, "exception", None) is not None:
        return messages
    saved = [message for message in messages if message.compared_fields is not None]
    return messages + [warning for message in saved for warning in _warnings_of(request, message)]


def _warnings_of(request: Request, message: Flash) -> list[Flash]:
    """Return a warning for each record that may be the same as the saved one."""
    kind, dbsession = request.registry["kinds"].get(message.kind_name), request.dbsession
    duplicates: Sequence[Similar] = ()
    with suppress(OutOfTime), Budget(dbsession) as budget, budget.limit(usual=True):
        row = dbsession.execute(_with_airport(kind), {"record_id": message.record_id}).one_or_none() if kind else None
        if row is not None:
            values = {name: getattr(row, name) for name in message.compared_fields or kind.fields}
            duplicates = similar(dbsession, kind, row.Airport, values, message.record_id)
    return [_warning(request, kind, duplicate) for duplicate in duplicates]


@cache
def _with_airport(kind: Kind) -> AnySelect:
    """Return the query of a live record's fields and its airport; the parameter is ``record_id``."""
    table = kind.model.__table__
    columns = (table.c[name] for name in kind.fields)
    query = select(*columns, Airport).join(Airport, Airport.id == table.c.airport_id)
    return query.where(table.c.id == bindparam("record_id"), kind.model.is_live())


def _warning(request: Request, kind: Kind, duplicate: Similar) -> Flash:
    reasons = reasons_of(request, duplicate)
    text = _("{} at the same airport may be the same: ${reasons}.", mapping={"reasons": reasons})
    url = record_url(request, kind, duplicate)
    return Flash(request.translate(text), level="warning", name=duplicate.label, url=url)
