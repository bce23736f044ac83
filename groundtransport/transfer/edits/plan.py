"""What a bulk edit sets in which records. It is stored with its batch, as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Engine, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.db import autocommit_engine
from groundtransport.events import CHANGING, RecordCreated
from groundtransport.json_types import JsonObject
from groundtransport.records.kind import Kind
from groundtransport.records.list import pages
from groundtransport.records.list.order import Order
from groundtransport.records.list.query import query_from_state
from groundtransport.records.model import RecordColumns
from groundtransport.settings import PAGE_SIZES
from groundtransport.transfer.imports.models import ImportBatch


@dataclass(frozen=True)
class EditPlan:
    """The new texts by field, "" for a field that is cleared, and the records.

    The records are those of ``versions``, their ids with the versions that the user saw; if it is None, all matches of
    ``state``, the query string of a list. ``head`` is the number of the last entry of the activity log at the time at
    which the user saw the number of records.
    """

    texts: Mapping[str, str]
    versions: Mapping[int, int] | None = None
    state: str = ""
    head: int = 0

    def to_json(self) -> JsonObject:
        versions = None if self.versions is None else {str(key): number for key, number in self.versions.items()}
        return {"texts": dict(self.texts), "versions": versions, "state": self.state, "head": self.head}

    @classmethod
    def from_json(cls, data: JsonObject) -> "EditPlan":
        versions = data["versions"]
        numbers = None if versions is None else {int(key): number for key, number in versions.items()}
        return cls(data["texts"], numbers, data["state"], data["head"])


@dataclass(frozen=True)
class Changes:
    """The ids of records that others changed since the user saw them, and of those that were created since."""

    changed: set[int] = field(default_factory=set)
    created: set[int] = field(default_factory=set)


def plan_of(batch: ImportBatch) -> EditPlan:
    """Return the plan of a batch that is a bulk edit."""
    assert batch.edit is not None
    return EditPlan.from_json(batch.edit)


def next_ids(engine: Engine, kind: Kind, plan: EditPlan, after: int, most: int) -> Sequence[int]:
    """Return the ids of the first records above the id ``after``, in order. No lock is held while they are searched."""
    if plan.versions is not None:
        return sorted(key for key in plan.versions if key > after)[:most]
    query, table = query_from_state(kind, plan.state, PAGE_SIZES[0]), kind.model.__table__
    conditions = [pages.live(kind), *pages.conditions(kind, query), table.c.id > after]
    index = f"INDEXED BY {Order(kind, 'id', descending=False).index}"  # else SQLite would sort all matches
    statement = select(table.c.id).where(*conditions).with_hint(table, index, "sqlite")
    with autocommit_engine(engine).connect() as connection:
        return connection.scalars(statement.order_by(table.c.id).limit(most)).all()


def locked(dbsession: Session, kind: Kind, plan: EditPlan, ids: Sequence[int]) -> Sequence[RecordColumns]:
    """Return the records with these ids in order, deleted ones too, and lock them; of all matches, those that match."""
    conditions: list[ColumnElement[bool]] = [kind.model.id.in_(ids)]
    if plan.versions is None:
        conditions += pages.conditions(kind, query_from_state(kind, plan.state, PAGE_SIZES[0]), indexed=False)
    query = select(kind.model).where(*conditions).order_by(kind.model.id)
    return dbsession.scalars(query.with_for_update()).all()


def changes_since(dbsession: Session, kind: Kind, plan: EditPlan, batch: str, ids: Sequence[int]) -> Changes:
    """Return what others did to records since the user saw them; ``batch`` is the edit's name in the activity log.

    The log tells it exactly: a time of change would miss a transaction that was running when the user looked.
    """
    log, changes = AdminActivity, Changes()
    others = (
        log.kind == kind.name,
        log.record_id.in_(ids),
        log.id > plan.head,
        log.batch != batch,
        log.action.in_(CHANGING),
    )
    for record_id, action in dbsession.execute(select(log.record_id, log.action).where(*others)):
        (changes.created if action == RecordCreated.action else changes.changed).add(record_id)
    return changes
