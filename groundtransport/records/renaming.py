"""Store the present names of airports in their records."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.events import Actor
from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer


def rename_records(dbsession: Session, notify: Callable[[object], None], kind: Kind, actor: Actor) -> int:
    """Store the airport's present name in the live records of renamed airports; return their number.

    Each change is logged; the batch of ``actor`` holds them together.
    """
    model = kind.model
    renamed = select(model, Airport).join(Airport, Airport.id == model.airport_id)
    name = Airport.name + " (" + Airport.code + ")"
    rows = dbsession.execute(renamed.where(model.is_live(), model.airport_name != name)).all()
    return _rename(Writer(dbsession, notify, kind, actor), rows)


def rename_at(dbsession: Session, notify: Callable[[object], None], kind: Kind, actor: Actor, airport: Airport) -> int:
    """Do so for one airport, whose records an index finds."""
    model = kind.model
    here = (model.airport_id == airport.id, model.is_live(), model.airport_name != airport.airport_name)
    rows = [(record, airport) for record in dbsession.scalars(select(model).where(*here)).all()]
    return _rename(Writer(dbsession, notify, kind, actor), rows)


def _rename(writer: Writer, rows: Sequence[Any]) -> int:
    for record, airport in rows:
        writer.update(record, {"airport_name": airport.airport_name})
    return len(rows)
