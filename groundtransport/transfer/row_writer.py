"""Write planned rows: new records in bulk, changed ones unless somebody changed them since they were planned."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.events import Actor, Values
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.records.sources import owners_by_source, source_key
from groundtransport.records.writer import Writer
from groundtransport.transfer.plan_types import VERIFIED_AT, Match, Outcome, PlannedRow
from groundtransport.transfer.planning.matching import Key, keys_by_id, place_key

CREATED, UPDATED, CONFLICT = "created", "updated", "conflict"
AT_ONCE = 500  # records that are read by one query


@dataclass
class Written:
    """The lines of conflicts, whose rows were not written, and the numbers of rows by result."""

    conflicts: list[int] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)


def log_head(dbsession: Session) -> int:
    """Return the number of the last entry of the activity log."""
    return dbsession.scalar(select(AuditHead.number)) or 0


class OthersPlaces:
    """The places (airport, company and route) of live records that others wrote since an entry of the activity log.

    Each call reads the entries since the last one, so an import reads the log once, however many chunks it has.
    """

    def __init__(self, kind: Kind, batch: str, since: int) -> None:
        self.kind, self.batch, self._since = kind, batch, since
        self._keys: dict[int, Key] = {}

    def taken(self, dbsession: Session) -> set[Key]:
        """Return the places as they are in the transaction of ``dbsession``."""
        head, log = log_head(dbsession), AdminActivity
        others = (log.kind == self.kind.name, log.batch != self.batch)
        query = select(log.record_id).where(log.id > self._since, log.id <= head, *others).distinct()
        ids = dbsession.scalars(query).all()
        for record_id in ids:
            self._keys.pop(record_id, None)
        for start in range(0, len(ids), AT_ONCE):
            self._keys |= keys_by_id(dbsession, self.kind, ids[start : start + AT_ONCE])
        self._since = head
        return set(self._keys.values())


def others_places(kind: Kind, match: Match, batch: str, since: int) -> OthersPlaces | None:
    """Return what an import by place compares its new rows with; None for an import that finds records otherwise."""
    return OthersPlaces(kind, batch, since) if match == Match.PLACE else None


def _newer(values: Values, record: RecordColumns) -> Values:
    """Return the values without a verification that is no later than the record's."""
    text, stored = values.get(VERIFIED_AT), record.verified_at
    is_older = text and stored is not None and datetime.fromisoformat(text) <= stored
    return {name: value for name, value in values.items() if name != VERIFIED_AT} if is_older else values


class RowWriter:
    """Writes planned rows of one kind in the transaction of a session. ``others`` is shared by all its chunks."""

    def __init__(
        self,
        dbsession: Session,
        notify: Callable[[object], None],
        kind: Kind,
        actor: Actor,
        others: OthersPlaces | None = None,
    ) -> None:
        self.dbsession, self.kind, self.others = dbsession, kind, others
        self.writer = Writer(dbsession, notify, kind, actor)

    def write(self, rows: Sequence[PlannedRow]) -> Written:
        """Create and update the records of rows that are NEW or CHANGED."""
        free = self._without_taken(rows)
        new = [row for row in free if row.outcome == Outcome.NEW]
        self.writer.create_all([row.values or {} for row in new])
        updated = self._update([row for row in free if row.outcome == Outcome.CHANGED])
        done = {row.line for row in new} | updated
        conflicts = [row.line for row in rows if row.line not in done]
        counts = {CREATED: len(new), UPDATED: len(updated), CONFLICT: len(conflicts)}
        return Written(conflicts, +Counter(counts))

    def _update(self, rows: Sequence[PlannedRow]) -> set[int]:
        """Update the records that are as they were planned; return the lines of their rows.

        The records are locked in the order of their ids, so that two imports cannot deadlock.
        """
        if not rows:
            return set()
        model, ids = self.kind.model, [row.record_id for row in rows]
        query = select(model).where(model.id.in_(ids), model.is_live()).order_by(model.id).with_for_update()
        records = {record.id: record for record in self.dbsession.scalars(query)}
        done = set()
        for row in rows:
            record = records.get(row.record_id or 0)
            if record is not None and record.version == row.version:
                self.writer.update(record, _newer(row.values or {}, record))
                done.add(row.line)
        return done

    def _without_taken(self, rows: Sequence[PlannedRow]) -> list[PlannedRow]:
        """Return the rows whose source, and whose place if they are new, no other live record has meanwhile."""
        sources = {row.line: source_key(row.values or {}) for row in rows}
        owners = owners_by_source(self.dbsession, self.kind, {key for key in sources.values() if key})
        places = self.others.taken(self.dbsession) if self.others else set()
        return [
            row
            for row in rows
            if ((key := sources[row.line]) is None or owners.get(key, row.record_id) == row.record_id)
            and not (places and row.outcome == Outcome.NEW and self._place(row) in places)
        ]

    def _place(self, row: PlannedRow) -> Key:
        values = row.values or {}
        return place_key(self.kind, values["airport_id"], values)
