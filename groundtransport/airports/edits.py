"""Airports as administrators edit them: stored apart, applied to the airport, and again after each load of a list."""

from collections.abc import Mapping
from datetime import date

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import lookup, source, tables
from groundtransport.airports.models import Airport, AirportEdit
from groundtransport.db.functions import advisory_lock
from groundtransport.json_types import JsonObject

EDITABLE = ("name", "city", "closed_on", "replaced_by", "known_as")
COLUMNS = ("code", "icao", "name", "city", "state", "country")  # from which the search text is made
Edited = Mapping[str, str | None]


def all_edits(dbsession: Session) -> dict[int, Edited]:
    """Return the edits of all airports, by the airport's id."""
    return {edit.airport_id: edit.edited for edit in dbsession.scalars(select(AirportEdit))}


def with_edit(values: JsonObject, edit: Edited | None) -> JsonObject:
    """Return the columns of an airport with its edit in place of what the lists say, and a search text of both."""
    if not edit:
        return values
    own = {name: edit[name] for name in ("name", "city") if name in edit}
    result = source.completed({**values, **own}, known_as(edit))
    if "closed_on" in edit:
        result |= {"closed_on": date.fromisoformat(edit["closed_on"]) if edit["closed_on"] else None}
    return result | {name: edit[name] for name in ("replaced_by",) if name in edit}


def known_as(edit: Edited) -> list[str]:
    """Return the further names that an edit gives an airport."""
    return [name.strip() for name in (edit.get("known_as") or "").split(",") if name.strip()]


def fetch(dbsession: Session, airport_id: int) -> AirportEdit | None:
    """Return the edit of an airport; None if it was never edited."""
    return dbsession.get(AirportEdit, airport_id)


def locked(dbsession: Session, airport_id: int) -> Airport:
    """Return an airport with its row locked until the end of the transaction, so that edits come one after another."""
    query = select(Airport).where(Airport.id == airport_id, advisory_lock(Airport.id)).with_for_update(key_share=True)
    return dbsession.scalars(query).one()


def values_of(airport: Airport, edit: AirportEdit | None) -> dict[str, str | None]:
    """Return the present values of EDITABLE."""
    return {
        "name": airport.name,
        "city": airport.city or None,
        "closed_on": airport.closed_on.isoformat() if airport.closed_on else None,
        "replaced_by": airport.replaced_by,
        "known_as": ", ".join(known_as(edit.edited)) or None if edit else None,
    }


def store(dbsession: Session, airport: Airport, edit: AirportEdit | None, changed: Edited) -> AirportEdit:
    """Store the changed values of EDITABLE, apply them to the airport, and return its edit."""
    if edit is None:
        edit = AirportEdit(airport_id=airport.id, version=0, edited={})
        dbsession.add(edit)
    edit.edited, edit.version = {**edit.edited, **changed}, edit.version + 1
    if "city" in changed:
        edit.edited["city"] = changed["city"] or ""
    values = {name: getattr(airport, name) for name in COLUMNS}
    for name, value in with_edit(values, edit.edited).items():
        setattr(airport, name, value)
    dbsession.flush()
    return edit


def forget_cached(dbsession: Session) -> None:
    """Let this process read airports again; other processes do so within a minute, their search within ten."""
    engine = dbsession.get_bind().engine
    lookup.AIRPORTS.forget(engine)
    lookup.DIRECTORIES.forget(engine)


def other_names(airport: Airport, edit: AirportEdit | None) -> list[str]:
    """Return the popular, former and edited names of an airport."""
    names = [*tables.popular_names().get(airport.code, ()), *(known_as(edit.edited) if edit else ())]
    return list(dict.fromkeys(names))
