"""The one writer: only here is a record added, changed, deleted or restored.

It flushes, then publishes an event inside the same transaction. It never sees a request.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.bulk import insert_rows, next_ids
from groundtransport.db import now
from groundtransport.events import (
    Actor,
    RecordChanged,
    RecordCreated,
    RecordDeleted,
    RecordPurged,
    RecordRestored,
    RecordUpdated,
)
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.search import search_text


class Writer:
    """Writes the records of one kind for one actor; ``notify`` publishes an event to its subscribers."""

    def __init__(self, dbsession: Session, notify: Callable[[Any], None], kind: Kind, actor: Actor) -> None:
        self.dbsession, self.notify, self.kind, self.actor = dbsession, notify, kind, actor

    def create(self, values: Mapping[str, Any], form_token: str | None = None) -> Any:
        """Add a record with these values (every field, ``airport_id`` and ``airport_code``) and return it.

        Raises sqlalchemy.exc.IntegrityError when another transaction has just used the token.
        """
        record = self._new(values, form_token)
        self._publish(RecordCreated, record, {}, self.values(record))
        return record

    def create_all(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Add many records at once, each with an event of its own.

        They go in by one statement and never become objects: that would take longer than all the rest.
        """
        if not batch:
            return
        kind, moment = self.kind, now()
        said = [{name: values.get(name) for name in self._names} for values in batch]
        same = {"created_at": moment, "updated_at": moment, "version": 1}
        ids = next_ids(self.dbsession, kind.model, len(said))
        rows = [
            {"id": number, **values, **same, "search_text": search_text(kind, values)}
            for number, values in zip(ids, said, strict=True)
        ]
        insert_rows(self.dbsession, kind.model, rows)
        for number, values in zip(ids, said, strict=True):
            self._tell(RecordCreated, number, 1, {}, values)

    def _new(self, values: Mapping[str, Any], form_token: str | None = None) -> Any:
        moment = now()
        record = self.kind.model(created_at=moment, updated_at=moment, version=1, form_token=form_token)
        self._assign(record, values)
        self.dbsession.add(record)
        return record

    def created_by(self, form_token: str | None) -> Any:
        """Return the record that the form with this token made, deleted or not; None if it made none yet."""
        model = self.kind.model
        return self.dbsession.scalar(select(model).where(model.form_token == form_token)) if form_token else None

    def update(self, record: Any, values: Mapping[str, Any]) -> bool:
        """Change a record; return False, with nothing written, when the values are those it has.

        Raises sqlalchemy.orm.exc.StaleDataError when another transaction changed it since it was read.
        """
        before = self.values(record)
        if all(before[name] == value for name, value in values.items() if name in before):
            return False
        self._assign(record, values)
        record.updated_at = now()
        record.version += 1
        self._publish(RecordUpdated, record, before, self.values(record))
        return True

    def delete(self, record: Any) -> None:
        """Take a record out of the lists: softly when its model has ``deleted_at``, else for good."""
        before = self.values(record)
        if hasattr(self.kind.model, "deleted_at"):
            record.deleted_at, record.deleted_by = now(), self.actor.name
        else:
            self.dbsession.delete(record)
        self._publish(RecordDeleted, record, before, {})

    def restore(self, record: Any) -> None:
        """Bring a softly deleted record back."""
        record.deleted_at = record.deleted_by = None
        self._publish(RecordRestored, record, {}, self.values(record))

    def purge(self, record: Any) -> None:
        """Remove a softly deleted record for good."""
        before = self.values(record)
        self.dbsession.delete(record)
        self._publish(RecordPurged, record, before, {})

    def values(self, record: Any) -> dict[str, Any]:
        """Return what a record says: its fields and its airport."""
        return {name: getattr(record, name) for name in self._names}

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.kind.fields, "airport_id", "airport_code")

    def _assign(self, record: Any, values: Mapping[str, Any]) -> None:
        for name in self._names:
            if name in values:
                setattr(record, name, values[name])
        record.search_text = search_text(self.kind, self.values(record))

    def _publish(self, event: type[RecordChanged], record: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
        self.dbsession.flush()
        self._tell(event, record.id, record.version, before, after)

    def _tell(
        self, event: type[RecordChanged], number: int, version: int, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        label = label_of(self.kind, after or before, number)
        frozen = MappingProxyType(before), MappingProxyType(after)
        self.notify(event(self.kind.name, number, label, *frozen, version, self.actor, self.dbsession))
