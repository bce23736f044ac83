"""Apply one action to several records, in one transaction and as one batch of the activity log."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.events import RecordVerified, Value
from groundtransport.i18n import _
from groundtransport.records.kind import Kind, label_of, single_choice_fields
from groundtransport.records.model import RecordColumns
from groundtransport.records.sources import SOURCE_FIELDS, ids_by_source, source_key
from groundtransport.records.verification import due_before
from groundtransport.records.writer import Writer
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission

MOST = 500  # records of one batch, so that its transaction takes at most two seconds
DELETE = "delete"
VERIFY = RecordVerified.action
VERIFIED_DAYS = 1  # "all that match" leaves records out that were verified in that time

GONE = _("Deleted by somebody in the meantime")
STALE = _("Changed by somebody in the meantime")
FORBIDDEN = _("Not permitted")
SAME = _("Nothing to change")
SOURCE_TAKEN = _("Another record has its source and source ID")
WITHDRAWN = _("The airport is no longer in the list of airports")


@dataclass
class Report:
    """The labels of the changed records, and of the others by the reason why they were not changed."""

    changed: list[str] = field(default_factory=list)
    unchanged: dict[str, list[str]] = field(default_factory=dict)

    def add_unchanged(self, reason: str, name: str) -> None:
        """Add the label of a record that was not changed for this reason."""
        self.unchanged.setdefault(reason, []).append(name)


def actions(request: Request, collection: Collection) -> list[tuple[str, str]]:
    """Return the actions that the user may apply: pairs of code and translated label."""
    choices = []
    if request.has_permission(Permission.EDIT, collection):
        choices.append((VERIFY, request.translate(_("Mark as verified"))))
        for name in single_choice_fields(collection.kind):
            node = collection.kind.fields[name]
            for code, label in node.choices:
                words = _("Set ${field} to ${value}", mapping={"field": node.title, "value": label})
                choices.append((f"{name}={code}", request.translate(words)))
    if request.has_permission(Permission.DELETE, collection):
        choices.append((DELETE, request.translate(_("Delete"))))
    return choices


def values_of(kind: Kind, action: str) -> dict[str, object]:
    """Return the values that an action sets in a record, by field name; none for a deletion or a verification."""
    name, _equals, code = action.partition("=")
    return {} if action in (DELETE, VERIFY) else {name: kind.fields[name].filter_value(code)}


def to_change(kind: Kind, action: str) -> list[ColumnElement[bool]]:
    """Return the conditions of the records that an action would change."""
    if action == VERIFY:
        verified_at = kind.model.verified_at
        return [or_(verified_at.is_(None), verified_at < due_before(VERIFIED_DAYS))]
    columns = {getattr(kind.model, name): value for name, value in values_of(kind, action).items()}
    return [or_(column.is_(None), column != value) for column, value in columns.items()]


def rows(kind: Kind, *conditions: ColumnElement[bool]) -> Select[RecordColumns]:
    """Return a SELECT of at most MOST records. It is ordered by id, so that two batches cannot deadlock."""
    return select(kind.model).where(*conditions).order_by(kind.model.id).limit(MOST)


def apply(
    collection: Collection,
    writer: Writer,
    action: str,
    records: Iterable[RecordColumns],
    stale: Callable[[RecordColumns], bool],
) -> Report:
    """Apply an action to each row that is not stale and that the user may change."""
    kind, report = collection.kind, Report()
    permission = Permission.DELETE if action == DELETE else Permission.EDIT
    for row in records:
        name = label_of(kind, writer.values(row), row.id)
        if row.is_deleted:
            report.add_unchanged(GONE, name)
        elif not collection.request.has_permission(permission, kind.record(collection.request, row, collection)):
            report.add_unchanged(FORBIDDEN, name)
        elif stale(row):
            report.add_unchanged(STALE, name)
        elif _change(writer, action, row):
            report.changed.append(name)
        else:
            report.add_unchanged(SAME, name)
    return report


def _change(writer: Writer, action: str, row: RecordColumns) -> bool:
    """Apply an action to a record; return False if that changes nothing."""
    if action == DELETE:
        writer.delete(row)
    elif action == VERIFY:
        writer.verify(row)
    else:
        return writer.update(row, values_of(writer.kind, action))
    return True


class LoggedChange(Protocol):
    """An entry of the activity log: ``changes`` maps each changed field to its values ``old`` and ``new``."""

    @property
    def action(self) -> str: ...
    @property
    def changes(self) -> Mapping[str, Mapping[str, Value]]: ...


def undo(dbsession: Session, writer: Writer, entries: Mapping[int, LoggedChange], changed_since: set[int]) -> Report:
    """Revert a batch entry by entry: restore deleted records, set changed fields and verifications to the old values.

    A record that was changed after the batch is left alone.
    """
    kind, report = writer.kind, Report()
    for row in dbsession.scalars(rows(kind, kind.model.id.in_(entries)).with_for_update()).all():
        entry, name = entries[row.id], label_of(kind, writer.values(row), row.id)
        if row.id in changed_since:
            report.add_unchanged(STALE, name)
        elif source_is_taken(dbsession, kind, row, entry):
            report.add_unchanged(SOURCE_TAKEN, name)
        elif entry.action != "delete":
            writer.revert(row, entry.changes)
            report.changed.append(name)
        elif dbsession.get_one(Airport, row.airport_id).withdrawn_at is not None:
            report.add_unchanged(WITHDRAWN, name)
        else:
            writer.restore(row)
            report.changed.append(name)
    return report


def source_is_taken(dbsession: Session, kind: Kind, row: RecordColumns, entry: LoggedChange) -> bool:
    """Return True if another live record has the source and source ID that the undo of an entry gives back."""
    values = {name: getattr(row, name) for name in SOURCE_FIELDS}
    if entry.action != "delete":
        if not entry.changes.keys() & SOURCE_FIELDS:
            return False
        values |= {name: pair["old"] for name, pair in entry.changes.items() if name in SOURCE_FIELDS}
    key = source_key(values)
    return key is not None and ids_by_source(dbsession, kind, [key]).get(key, row.id) != row.id
