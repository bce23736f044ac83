"""Compare each record with the state that its entries result in: the fields' values and the timestamps."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Row, RowMapping, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.events import Value
from groundtransport.records.kind import Kind
from groundtransport.signing import canonical

CHUNK = 1_000  # records read at a time
# Between a record's timestamp and its entry's: the entry is written at the end of the transaction, which is longest in
# an import.
TOLERANCE = timedelta(minutes=10)
SHOWN = 40  # characters of a value in a message
# Columns in entries besides the kind's fields.
DERIVED = ("airport_id", "airport_code", "verified_at", "verified_by")
TIMESTAMPS = {"create": ("created_at", "updated_at"), "update": ("updated_at",), "delete": ("deleted_at",)}


@dataclass
class Logged:
    """The state of a record according to its entries.

    ``is_whole`` is True if the log contains its creation, so that a field without an entry must be empty.
    """

    values: dict[str, object] = field(default_factory=dict)
    timestamps: dict[str, datetime] = field(default_factory=dict)
    deleted_by: str | None = None
    is_whole: bool = False

    def add(self, entry: Row[int, str, datetime, str, dict[str, Value]]) -> None:
        """Apply the next entry of the record."""
        self.is_whole |= entry.action == "create"
        self.timestamps |= dict.fromkeys(TIMESTAMPS.get(entry.action, ()), entry.at)
        if entry.action in ("create", "update", "verify", "restore"):
            self.values |= {name: pair["new"] for name, pair in entry.changes.items()}
        if entry.action == "restore":
            self.timestamps.pop("deleted_at", None)
        self.deleted_by = entry.actor if entry.action == "delete" else None


def disagreements(dbsession: Session, kind: Kind) -> Iterator[str]:
    """Yield a message for each value and timestamp of a record that differs from the log."""
    for rows in _chunks(dbsession, kind):
        logged = _logged(dbsession, kind, rows[0]["id"], rows[-1]["id"])
        for row in rows:
            state = logged[row["id"]]
            for difference in (*_values(kind, row, state), *_timestamps(row, state)):
                yield f"{kind.name} {row['id']}: {difference}"


def _chunks(dbsession: Session, kind: Kind) -> Iterator[Sequence[RowMapping]]:
    """Yield the records of a kind as lists of up to CHUNK mappings, by id."""
    table, last = kind.model.__table__, 0
    names = ("id", "created_at", "updated_at", "deleted_at", "deleted_by", *DERIVED, *kind.fields)
    columns = [table.c[name] for name in names if name in table.c]
    while True:
        page = select(*columns).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        rows = dbsession.execute(page).mappings().all()
        if not rows:
            return
        yield rows
        last = rows[-1]["id"]


def _logged(dbsession: Session, kind: Kind, first: int, last: int) -> dict[int, Logged]:
    """Return the logged states of the records with ids from ``first`` to ``last``, by id."""
    entry = AdminActivity
    query = select(entry.record_id, entry.action, entry.at, entry.actor, entry.changes).where(
        entry.kind == kind.name, entry.record_id.between(first, last)
    )
    states: dict[int, Logged] = defaultdict(Logged)
    for row in dbsession.execute(query.order_by(entry.id)):
        states[row.record_id].add(row)
    return states


def _values(kind: Kind, row: RowMapping, state: Logged) -> Iterator[str]:
    """Yield a message for each value that differs."""
    for name in (*kind.fields, *DERIVED):
        if not (state.is_whole or name in state.values):
            continue
        value, logged = row[name], state.values.get(name)
        if isinstance(value, datetime):
            value = value.isoformat()
        if value != logged and canonical(value) != canonical(logged):
            yield f"{name} is {_short(value)}, and the log says {_short(logged)}"


def _timestamps(row: RowMapping, state: Logged) -> Iterator[str]:
    """Yield a message for each timestamp that differs by more than TOLERANCE, and for a wrong ``deleted_by``."""
    for name, at in state.timestamps.items():
        value = row.get(name)
        if value is None or abs(value - at) > TOLERANCE:
            yield f"{name} is {value or 'empty'}, and its entry was made at {at}"
    if state.deleted_by and row.get("deleted_by") != state.deleted_by:
        yield f"deleted_by is {_short(row.get('deleted_by'))}, and the log says {_short(state.deleted_by)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
