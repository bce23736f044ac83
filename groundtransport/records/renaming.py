"""Store the present names of airports in their records."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.events import Actor
from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer

AT_ONCE = 100  # records of one transaction, whose writers wait for it


def rename_some(
    dbsession: Session, notify: Callable[[object], None], kind: Kind, actor: Actor, after: int = 0
) -> list[int]:
    """Store the airport's present name in live records of renamed airports; return their ids.

    These are the first AT_ONCE with a greater id than ``after``, locked until the end of the transaction. Each change
    is logged; the batch of ``actor`` holds them together.
    """
    model = kind.model
    renamed = select(model, Airport).join(Airport, Airport.id == model.airport_id)
    name = Airport.name + " (" + Airport.code + ")"
    page = (
        renamed.where(model.is_live(), model.airport_name != name, model.id > after).order_by(model.id).limit(AT_ONCE)
    )
    rows = dbsession.execute(page.with_for_update(of=model)).all()
    _rename(Writer(dbsession, notify, kind, actor), rows)
    return [record.id for record, _airport in rows]


def rename_at(dbsession: Session, notify: Callable[[object], None], kind: Kind, actor: Actor, airport: Airport) -> int:
    """Store the present name of one airport in its live records, which an index finds; return their number."""
    model = kind.model
    here = (model.airport_id == airport.id, model.is_live(), model.airport_name != airport.airport_name)
    rows = [(record, airport) for record in dbsession.scalars(select(model).where(*here)).all()]
    return _rename(Writer(dbsession, notify, kind, actor), rows)


def _rename(writer: Writer, rows: Sequence[Any]) -> int:
    for record, airport in rows:
        writer.update(record, {"airport_name": airport.airport_name})
    return len(rows)
