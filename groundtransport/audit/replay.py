"""Compare each record with what its entries add up to: the last value of each field, and the moments of its changes."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.audit.chain import canonical
from groundtransport.audit.models import AdminActivity

CHUNK = 1_000  # records read at a time
# An entry is written at the end of its change's transaction; the longest one is a part of an import.
TOLERANCE = timedelta(minutes=10)
SHOWN = 40  # characters of a value
OURS = ("airport_id", "airport_code")  # what entries hold besides the kind's fields
MOMENTS = {"create": ("created_at", "updated_at"), "update": ("updated_at",), "delete": ("deleted_at",)}


@dataclass
class Logged:
    """What a record should say. ``is_whole``: its creation is in the log, so a field that is not was never filled."""

    values: dict[str, Any] = field(default_factory=dict)
    moments: dict[str, datetime] = field(default_factory=dict)
    deleted_by: str | None = None
    is_whole: bool = False

    def add(self, entry: Any) -> None:
        """Take one more entry, the next one of the record."""
        self.is_whole |= entry.action == "create"
        self.moments |= dict.fromkeys(MOMENTS.get(entry.action, ()), entry.at)
        if entry.action in ("create", "update", "restore"):
            self.values |= {name: pair["new"] for name, pair in entry.changes.items()}
        if entry.action == "restore":
            self.moments.pop("deleted_at", None)
        self.deleted_by = entry.actor if entry.action == "delete" else None


def disagreements(dbsession: Session, kind: Any) -> Iterator[str]:
    """Yield, in words, each value and each moment of a record that is not what the log says."""
    for rows in _chunks(dbsession, kind):
        logged = _logged(dbsession, kind, rows[0]["id"], rows[-1]["id"])
        for row in rows:
            known = logged[row["id"]]
            for difference in (*_values(kind, row, known), *_moments(row, known)):
                yield f"{kind.name} {row['id']}: {difference}"


def _chunks(dbsession: Session, kind: Any) -> Iterator[Any]:
    table, last = kind.model.__table__, 0
    names = ("id", "created_at", "updated_at", "deleted_at", "deleted_by", *OURS, *kind.fields)
    columns = [table.c[name] for name in names if name in table.c]
    while True:
        page = select(*columns).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        rows = dbsession.execute(page).mappings().all()
        if not rows:
            return
        yield rows
        last = rows[-1]["id"]


def _logged(dbsession: Session, kind: Any, first: int, last: int) -> dict[int, Logged]:
    entry = AdminActivity
    query = select(entry.record_id, entry.action, entry.at, entry.actor, entry.changes).where(
        entry.kind == kind.name, entry.record_id.between(first, last)
    )
    found: dict[int, Logged] = defaultdict(Logged)
    for row in dbsession.execute(query.order_by(entry.id)):
        found[row.record_id].add(row)
    return found


def _values(kind: Any, row: Any, known: Logged) -> Iterator[str]:
    for name in (*kind.fields, *OURS):
        if not (known.is_whole or name in known.values):
            continue
        there, said = row[name], known.values.get(name)
        if there != said and canonical(there) != canonical(said):
            yield f"{name} is {_short(there)}, and the log says {_short(said)}"


def _moments(row: Any, known: Logged) -> Iterator[str]:
    for name, at in known.moments.items():
        there = row.get(name)
        if there is None or abs(there - at) > TOLERANCE:
            yield f"{name} is {there or 'empty'}, and its entry was made at {at}"
    if known.deleted_by and row.get("deleted_by") != known.deleted_by:
        yield f"deleted_by is {_short(row.get('deleted_by'))}, and the log says {_short(known.deleted_by)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
