"""The one writer: only here is a record added, changed, deleted or restored.

It writes the row, then publishes an event inside the same transaction. It never sees a request.
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
        """Add a record with these values (every field, ``airport_id`` and ``airport_code``) and return its id.

        Raises sqlalchemy.exc.IntegrityError when another transaction has just used the token.
        """
        said = self._said(values)
        query = cached_statement(("insert", self._table), lambda: insert(self._table))
        result: Any = self.dbsession.execute(query, {**self._row(said, now()), "form_token": form_token})
        number: int = result.inserted_primary_key[0]
        self._tell(RecordCreated, number, 1, {}, said)
        return number

    def create_all(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Add many records at once, by one statement, each with an event of its own."""
        if not batch:
            return
        moment, said = now(), [self._said(values) for values in batch]
        ids = next_ids(self.dbsession, self.kind.model, len(said))
        rows = [{"id": number, **self._row(values, moment)} for number, values in zip(ids, said, strict=True)]
        insert_rows(self.dbsession, self.kind.model, rows)
        for number, values in zip(ids, said, strict=True):
            self._tell(RecordCreated, number, 1, {}, values)

    def _said(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values.get(name) for name in self._names}

    def _row(self, said: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
        """Return the columns of a new record. It never becomes an object: that would take longer than all the rest."""
        text = search_text(self.kind, said)
        return {**said, "created_at": moment, "updated_at": moment, "version": 1, "search_text": text}

    def created_by(self, form_token: str | None) -> Any:
        """Return the record that the form with this token made, deleted or not; None if it made none yet."""
        model = self.kind.model
        return self.dbsession.scalar(select(model).where(model.form_token == form_token)) if form_token else None

    def update(self, record: Any, values: Mapping[str, Any]) -> bool:
        """Change a record; return False, with nothing written, when the values are those it has.

        Raises sqlalchemy.orm.exc.StaleDataError when another transaction changed it since it was read.
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
        self._tell(RecordUpdated, record.id, record.version, before, after)
        return True

    def delete(self, record: Any) -> None:
        """Take a record out of the lists: softly when its model has ``deleted_at``, else for good.

        Raises StaleDataError as ``update`` does.
        """
        before = self.values(record)
        if hasattr(self.kind.model, "deleted_at"):
            self._change(record, {"deleted_at": now(), "deleted_by": self.actor.name})
        else:
            self._remove(record)
        self._tell(RecordDeleted, record.id, record.version, before, {})

    def restore(self, record: Any) -> None:
        """Bring a softly deleted record back."""
        self._change(record, {"deleted_at": None, "deleted_by": None})
        self._tell(RecordRestored, record.id, record.version, {}, self.values(record))

    def purge(self, record: Any) -> None:
        """Remove a softly deleted record for good."""
        before = self.values(record)
        self._remove(record)
        self._tell(RecordPurged, record.id, record.version, before, {})

    def values(self, record: Any) -> dict[str, Any]:
        """Return what a record says: its fields and its airport."""
        return {name: getattr(record, name) for name in self._names}

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.kind.fields, "airport_id", "airport_code")

    @property
    def _table(self) -> Any:
        return self.kind.model.__table__

    def _change(self, record: Any, columns: dict[str, Any]) -> None:
        """Write columns of a record; raise StaleDataError when another transaction changed it since it was read.

        It is one statement: the unit of work of SQLAlchemy takes longer to find out what is to be written.
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

    def _tell(
        self, event: type[RecordChanged], number: int, version: int, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        label = label_of(self.kind, after or before, number)
        frozen = MappingProxyType(before), MappingProxyType(after)
        self.notify(event(self.kind.name, number, label, *frozen, version, self.actor, self.dbsession))


def _change_of(table: Any, names: tuple[str, ...]) -> Update:
    """Return the statement that changes columns of one record of one version; ``new_<column>`` are their values."""
    record = (table.c.id == bindparam("its_id"), table.c.version == bindparam("its_version"))
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    return update(table).where(*record).values(values)
