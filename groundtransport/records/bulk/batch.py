"""Apply one action to several records, in one transaction and as one batch of the activity log."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyramid.request import Request
from sqlalchemy import Select, or_, select

from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list.query import choices
from groundtransport.records.writer import Writer
from groundtransport.resources import Collection
from groundtransport.security import Permission

MOST = 500  # records of one batch, so that its transaction takes at most two seconds
DELETE = "delete"

GONE = _("Deleted by somebody in the meantime")
STALE = _("Changed by somebody in the meantime")
FORBIDDEN = _("Not permitted")
SAME = _("Nothing to change")
WITHDRAWN = _("The airport is no longer in the list of airports")


@dataclass
class Report:
    """The labels of the changed records, and of the others by the reason why they were not changed."""

    done: list[str] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, reason: str, name: str) -> None:
        self.left.setdefault(reason, []).append(name)


def actions(request: Request, collection: Collection) -> list[tuple[str, str]]:
    """Return the actions that the user may apply: pairs of code and translated label."""
    found = []
    if request.has_permission(Permission.EDIT, collection):
        for name in choices(collection.kind):
            node = collection.kind.fields[name]
            for code, label in node.choices:
                words = _("Set ${field} to ${value}", mapping={"field": node.title, "value": label})
                found.append((f"{name}={code}", request.translate(words)))
    if request.has_permission(Permission.DELETE, collection):
        found.append((DELETE, request.translate(_("Delete"))))
    return found


def values_of(kind: Kind, action: str) -> dict[str, Any]:
    """Return the values that an action sets in a record, by field name; none for a deletion."""
    name, _equals, code = action.partition("=")
    return {} if action == DELETE else {name: kind.fields[name].filter_value(code)}


def to_change(kind: Kind, action: str) -> list[Any]:
    """Return the conditions of the records that an action would change."""
    columns = {getattr(kind.model, name): value for name, value in values_of(kind, action).items()}
    return [or_(column.is_(None), column != value) for column, value in columns.items()]


def rows(kind: Kind, *conditions: Any) -> Select[Any]:
    """Return a SELECT of at most MOST records. It is ordered by id, so that two batches cannot deadlock."""
    return select(kind.model).where(*conditions).order_by(kind.model.id).limit(MOST)


def apply(
    collection: Collection, writer: Writer, action: str, found: Iterable[Any], stale: Callable[[Any], bool]
) -> Report:
    """Apply an action to each row that is not stale and that the user may change."""
    kind, report = collection.kind, Report()
    wanted = Permission.DELETE if action == DELETE else Permission.EDIT
    for row in found:
        name = label_of(kind, writer.values(row), row.id)
        if row.is_deleted:
            report.leave(GONE, name)
        elif not collection.request.has_permission(wanted, kind.record(collection.request, row, collection)):
            report.leave(FORBIDDEN, name)
        elif stale(row):
            report.leave(STALE, name)
        elif action == DELETE:
            writer.delete(row)
            report.done.append(name)
        elif writer.update(row, values_of(kind, action)):
            report.done.append(name)
        else:
            report.leave(SAME, name)
    return report


def undo(dbsession: Any, writer: Writer, entries: Mapping[int, Any], changed_since: set[int]) -> Report:
    """Revert a batch entry by entry: restore deleted records, and set changed fields to their old values.

    A record that was changed after the batch is left alone.
    """
    kind, report = writer.kind, Report()
    for row in dbsession.scalars(rows(kind, kind.model.id.in_(entries)).with_for_update()).all():
        entry, name = entries[row.id], label_of(kind, writer.values(row), row.id)
        if row.id in changed_since:
            report.leave(STALE, name)
        elif entry.action != "delete":
            writer.update(row, {field: pair["old"] for field, pair in entry.changes.items()})
            report.done.append(name)
        elif dbsession.get_one(Airport, row.airport_id).withdrawn_at is not None:
            report.leave(WITHDRAWN, name)
        else:
            writer.restore(row)
            report.done.append(name)
    return report
