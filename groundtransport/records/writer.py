"""The only module that creates, changes, deletes or restores records.

It writes the row, then publishes an event in the same transaction. It has no access to the request.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import CursorResult, Table, Update, bindparam, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.airports import lookup
from groundtransport.db import now
from groundtransport.db.bulk_insert import insert_rows, next_ids
from groundtransport.db.statement_cache import cached_statement
from groundtransport.events import (
    MERGED_INTO,
    OTHER_RECORD,
    Actor,
    Change,
    PairProposed,
    PairRejected,
    RecordCreated,
    RecordDeleted,
    RecordPurged,
    RecordRestored,
    RecordUpdated,
    RecordVerified,
    Value,
    Values,
)
from groundtransport.records import verification
from groundtransport.records.derived import changed_values, derived_values, given_numbers, mark_of
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.model import RecordColumns


class Writer:
    """Writes the records of one kind for one actor; ``notify`` publishes an event to its subscribers."""

    def __init__(self, dbsession: Session, notify: Callable[[object], None], kind: Kind, actor: Actor) -> None:
        self.dbsession, self.notify, self.kind, self.actor = dbsession, notify, kind, actor

    def create(self, values: Values, form_token: str | None = None) -> int:
        """Insert a record and return its id. ``values`` holds every field, ``airport_id`` and ``airport_code``.

        Raise sqlalchemy.exc.IntegrityError if another transaction has used the form token.
        """
        complete = self._complete(values)
        row = self._row(complete, self._countries([complete]), now()) | mark_of(self.dbsession, self.kind, complete)
        query = cached_statement(("insert", self._table), lambda: insert(self._table))
        result = self.dbsession.execute(query, {**row, "form_token": form_token})
        assert isinstance(result, CursorResult)
        assert result.inserted_primary_key is not None
        record_id: int = result.inserted_primary_key[0]
        self._publish(RecordCreated, record_id, 1, {}, complete)
        return record_id

    def create_all(self, batch: Sequence[Values]) -> Sequence[int]:
        """Insert many records by one statement, publish an event for each, and return their ids in order.

        ``batch`` holds values as ``create`` gets them, and may hold the derived columns that the validation computed.
        """
        if not batch:
            return []
        created_at, complete = now(), [self._complete(values) for values in batch]
        checks = [verification.columns_in(values, self.actor.name) for values in batch]
        marks = [mark_of(self.dbsession, self.kind, values) for values in batch]
        ids, countries = next_ids(self.dbsession, self._table, len(complete)), self._countries(complete)
        rows = [
            {"id": key, **self._row(values, countries, created_at, given_numbers(self.kind, given)), **check, **mark}
            for key, mark, given, values, check in zip(ids, marks, batch, complete, checks, strict=True)
        ]
        insert_rows(self.dbsession, self._table, rows)
        for record_id, values, check in zip(ids, complete, checks, strict=True):
            logged = verification.logged(**check) if check["verified_at"] else {}
            self._publish(RecordCreated, record_id, 1, {}, values | logged)
        return ids

    def _countries(self, batch: Iterable[Values]) -> dict[str, str]:
        """Return the countries of the records' airports by code, if the kind needs them."""
        codes = {values["airport_code"] for values in batch} if self.kind.telephones else ()
        return lookup.countries(self.dbsession, codes)

    def _complete(self, values: Values) -> dict[str, object]:
        """Return the value of every field, None for an absent one."""
        return {name: values.get(name) for name in self._names}

    def _row(
        self,
        values: Values,
        countries: Mapping[str, str],
        created_at: datetime,
        numbers: Mapping[str, str | None] | None = None,
    ) -> dict[str, object]:
        """Return the columns of a new record. No ORM object is made: it would take longer than the INSERT."""
        derived = derived_values(self.kind, values, countries.get(values["airport_code"], ""), numbers)
        return {**values, **derived, "created_at": created_at, "updated_at": created_at, "version": 1}

    def created_by(self, form_token: str | None) -> RecordColumns | None:
        """Return the record that the form with this token created, deleted or not; None if there is none."""
        model = self.kind.model
        return self.dbsession.scalar(select(model).where(model.form_token == form_token)) if form_token else None

    def update(self, record: RecordColumns, values: Values) -> bool:
        """Change a record and return True; return False, and write nothing, if the values are the same.

        ``values`` may hold ``verified_at`` (ISO 8601 or None) and ``verified_by``. If these alone change, the version
        stays. Raise sqlalchemy.orm.exc.StaleDataError if another transaction has changed the record since it was read.
        """
        before = self.values(record)
        changed = {name: values[name] for name in self._names if name in values and values[name] != before[name]}
        check, old_check = self._new_check(record, values), verification.of(record)
        if not changed:
            if check:
                self.set_verification(record, **check)
            return bool(check)
        after = before | changed
        country = self._countries([after]).get(str(after["airport_code"]), "")
        derived: dict[str, object] = {**changed_values(self.kind, after, changed, country)}
        derived |= mark_of(self.dbsession, self.kind, after, changed)
        if derived["search_text"] == record.search_text:
            del derived["search_text"]  # writing it would update the search index
        self._change(record, {**changed, **derived, **check, "updated_at": now(), "version": record.version + 1})
        checks = (old_check, verification.of(record)) if check else ({}, {})
        self._publish(RecordUpdated, record.id, record.version, before | checks[0], after | checks[1])
        return True

    def _new_check(self, record: RecordColumns, values: Values) -> dict[str, Value]:
        """Return the columns of the verification if ``values`` change it, else none."""
        if "verified_at" not in values:
            return {}
        check = verification.columns_in(values, self.actor.name)
        return check if verification.logged(**check) != verification.of(record) else {}

    def verify(self, record: RecordColumns, at: datetime | None = None) -> None:
        """Mark a record as verified by the actor, now or ``at``. Raise StaleDataError as ``update`` does."""
        self.set_verification(record, at or now(), self.actor.name)

    def set_verification(self, record: RecordColumns, verified_at: datetime | None, verified_by: str | None) -> None:
        """Set when and by whom a record was verified. Its version stays. Raise StaleDataError as ``update`` does."""
        values, before = self.values(record), verification.of(record)
        self._change(record, {"verified_at": verified_at, "verified_by": verified_by})
        after = verification.of(record)
        self._publish(RecordVerified, record.id, record.version, values | before, values | after)

    def revert(self, record: RecordColumns, changes: Mapping[str, Mapping[str, Value]]) -> bool:
        """Give the fields and the verification back that a record had before an entry of the log with these changes.

        Return False if it has them. Raise StaleDataError as ``update`` does.
        """
        values = {name: pair["old"] for name, pair in changes.items()}
        if "verified_at" in values:
            values.setdefault("verified_by", record.verified_by)
        return self.update(record, values)

    def delete(self, record: RecordColumns, merged_into: int | None = None) -> None:
        """Delete a record: mark it as deleted if its model has ``deleted_at``, else remove its row.

        ``merged_into`` is the id of the record that survives it, if it is deleted because of a merge. Raise
        StaleDataError as ``update`` does.
        """
        before = self.values(record)
        if hasattr(self.kind.model, "deleted_at"):
            self._change(record, {"deleted_at": now(), "deleted_by": self.actor.name, MERGED_INTO: merged_into})
        else:
            self._remove(record)
        after: dict[str, object] = {MERGED_INTO: merged_into} if merged_into else {}
        self._publish(RecordDeleted, record.id, record.version, before, after)

    def restore(self, record: RecordColumns) -> None:
        """Restore a record that is marked as deleted. Raise StaleDataError as ``update`` does."""
        self._change(record, {"deleted_at": None, "deleted_by": None, MERGED_INTO: None})
        self._publish(RecordRestored, record.id, record.version, {}, self.values(record))

    def purge(self, record: RecordColumns) -> None:
        """Remove the row of a record that is marked as deleted."""
        before = self.values(record)
        self._remove(record)
        self._publish(RecordPurged, record.id, record.version, before, {})

    def decide_pair(self, record: RecordColumns, other_id: int, *, is_double: bool) -> None:
        """Log that a record is no double of another one, or may be one again. The record itself stays as it is."""
        before: dict[str, object] = {"airport_code": record.airport_code}
        label = label_of(self.kind, self.values(record), record.id)
        event = PairProposed if is_double else PairRejected
        after = MappingProxyType({**before, OTHER_RECORD: other_id})
        change = event(self.kind.name, record.id, label, before, after, record.version, self.actor, self.dbsession)
        self.notify(change)

    def values(self, record: RecordColumns) -> dict[str, object]:
        """Return the values of a record: its fields, ``airport_id`` and ``airport_code``."""
        return {name: getattr(record, name) for name in self._names}

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.kind.fields, "airport_id", "airport_code")

    @property
    def _table(self) -> Table:
        return self.kind.model.__table__

    def _change(self, record: RecordColumns, columns: dict[str, object]) -> None:
        """Update columns of a record. Raise StaleDataError if another transaction has changed it since it was read.

        Uses one statement instead of the unit of work, which takes longer to find the changes.
        """
        table, names = self._table, tuple(columns)
        values = {f"new_{name}": value for name, value in columns.items()}
        query = cached_statement(("change", table, names), lambda: _change_of(table, names))
        result = self.dbsession.execute(query, {**values, "its_id": record.id, "its_version": record.version})
        assert isinstance(result, CursorResult)
        if result.rowcount != 1:
            raise StaleDataError(f"{self.kind.name} {record.id} was changed by another transaction")
        for name, value in columns.items():
            if hasattr(record, name):  # most derived columns are not mapped
                set_committed_value(record, name, value)

    def _remove(self, record: RecordColumns) -> None:
        self.dbsession.delete(record)
        self.dbsession.flush()

    def _publish(
        self,
        event: type[Change],
        record_id: int,
        version: int,
        before: dict[str, object],
        after: dict[str, object],
    ) -> None:
        """Notify the subscribers of a change, with read-only values before and after it."""
        label = label_of(self.kind, before | after, record_id)
        frozen = MappingProxyType(before), MappingProxyType(after)
        self.notify(event(self.kind.name, record_id, label, *frozen, version, self.actor, self.dbsession))


def _change_of(table: Table, names: tuple[str, ...]) -> Update:
    """Return the UPDATE of columns of one record at one version; the new values are the parameters ``new_<column>``."""
    record = (table.c.id == bindparam("its_id"), table.c.version == bindparam("its_version"))
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    return update(table).where(*record).values(values)
