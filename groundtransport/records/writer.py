"""The only module that creates, changes, deletes or restores records.

It writes the row, then publishes an event in the same transaction. It has no access to the request.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Update, bindparam, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.db import now
from groundtransport.db.bulk_insert import insert_rows, next_ids
from groundtransport.db.statement_cache import cached_statement
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
from groundtransport.records.search.terms import search_text


class Writer:
    """Writes the records of one kind for one actor; ``notify`` publishes an event to its subscribers."""

    def __init__(self, dbsession: Session, notify: Callable[[Any], None], kind: Kind, actor: Actor) -> None:
        self.dbsession, self.notify, self.kind, self.actor = dbsession, notify, kind, actor

    def create(self, values: Mapping[str, Any], form_token: str | None = None) -> int:
        """Insert a record and return its id. ``values`` holds every field, ``airport_id`` and ``airport_code``.

        Raise sqlalchemy.exc.IntegrityError if another transaction has used the form token.
        """
        complete = self._complete(values)
        query = cached_statement(("insert", self._table), lambda: insert(self._table))
        result: Any = self.dbsession.execute(query, {**self._row(complete, now()), "form_token": form_token})
        record_id: int = result.inserted_primary_key[0]
        self._publish(RecordCreated, record_id, 1, {}, complete)
        return record_id

    def create_all(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Insert many records by one statement, and publish an event for each."""
        if not batch:
            return
        created_at, complete = now(), [self._complete(values) for values in batch]
        ids = next_ids(self.dbsession, self.kind.model, len(complete))
        rows = [{"id": key, **self._row(values, created_at)} for key, values in zip(ids, complete, strict=True)]
        insert_rows(self.dbsession, self.kind.model, rows)
        for record_id, values in zip(ids, complete, strict=True):
            self._publish(RecordCreated, record_id, 1, {}, values)

    def _complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of every field, None for an absent one."""
        return {name: values.get(name) for name in self._names}

    def _row(self, values: Mapping[str, Any], created_at: datetime) -> dict[str, Any]:
        """Return the columns of a new record. No ORM object is made: it would take longer than the INSERT."""
        text = search_text(self.kind, values)
        return {**values, "created_at": created_at, "updated_at": created_at, "version": 1, "search_text": text}

    def created_by(self, form_token: str | None) -> Any:
        """Return the record that the form with this token created, deleted or not; None if there is none."""
        model = self.kind.model
        return self.dbsession.scalar(select(model).where(model.form_token == form_token)) if form_token else None

    def update(self, record: Any, values: Mapping[str, Any]) -> bool:
        """Change a record and return True; return False, and write nothing, if the values are the same.

        Raise sqlalchemy.orm.exc.StaleDataError if another transaction has changed the record since it was read.
        """
        before = self.values(record)
        changed = {name: values[name] for name in self._names if name in values and values[name] != before[name]}
        if not changed:
            return False
        after = before | changed
        text = search_text(self.kind, after)
        if text != record.search_text:
            changed["search_text"] = text
        self._change(record, {**changed, "updated_at": now(), "version": record.version + 1})
        self._publish(RecordUpdated, record.id, record.version, before, after)
        return True

    def delete(self, record: Any) -> None:
        """Delete a record: mark it as deleted if its model has ``deleted_at``, else remove its row.

        Raise StaleDataError as ``update`` does.
        """
        before = self.values(record)
        if hasattr(self.kind.model, "deleted_at"):
            self._change(record, {"deleted_at": now(), "deleted_by": self.actor.name})
        else:
            self._remove(record)
        self._publish(RecordDeleted, record.id, record.version, before, {})

    def restore(self, record: Any) -> None:
        """Restore a record that is marked as deleted. Raise StaleDataError as ``update`` does."""
        self._change(record, {"deleted_at": None, "deleted_by": None})
        self._publish(RecordRestored, record.id, record.version, {}, self.values(record))

    def purge(self, record: Any) -> None:
        """Remove the row of a record that is marked as deleted."""
        before = self.values(record)
        self._remove(record)
        self._publish(RecordPurged, record.id, record.version, before, {})

    def values(self, record: Any) -> dict[str, Any]:
        """Return the values of a record: its fields, ``airport_id`` and ``airport_code``."""
        return {name: getattr(record, name) for name in self._names}

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.kind.fields, "airport_id", "airport_code")

    @property
    def _table(self) -> Any:
        return self.kind.model.__table__

    def _change(self, record: Any, columns: dict[str, Any]) -> None:
        """Update columns of a record. Raise StaleDataError if another transaction has changed it since it was read.

        Uses one statement instead of the unit of work, which takes longer to find the changes.
        """
        table, names = self._table, tuple(columns)
        values = {f"new_{name}": value for name, value in columns.items()}
        query = cached_statement(("change", table, names), lambda: _change_of(table, names))
        result: Any = self.dbsession.execute(query, {**values, "its_id": record.id, "its_version": record.version})
        if result.rowcount != 1:
            raise StaleDataError(f"{self.kind.name} {record.id} was changed by another transaction")
        for name, value in columns.items():
            set_committed_value(record, name, value)

    def _remove(self, record: Any) -> None:
        self.dbsession.delete(record)
        self.dbsession.flush()

    def _publish(
        self, event: type[RecordChanged], record_id: int, version: int, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        """Notify the subscribers of a change, with read-only values before and after it."""
        label = label_of(self.kind, after or before, record_id)
        frozen = MappingProxyType(before), MappingProxyType(after)
        self.notify(event(self.kind.name, record_id, label, *frozen, version, self.actor, self.dbsession))


def _change_of(table: Any, names: tuple[str, ...]) -> Update:
    """Return the UPDATE of columns of one record at one version; the new values are the parameters ``new_<column>``."""
    record = (table.c.id == bindparam("its_id"), table.c.version == bindparam("its_version"))
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    return update(table).where(*record).values(values)
