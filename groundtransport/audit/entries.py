"""Entries of the activity log as pages and files show them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pyramid.request import Request
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.i18n import _
from groundtransport.records.kind import Kind

# The titles of the actions.
ACTIONS = {
    "create": _("create"),
    "update": _("update"),
    "delete": _("delete"),
    "restore": _("restore"),
    "purge": _("purge"),
}
JSON_COLUMNS = ("id", "at", "actor", "action", "kind", "record_id", "label", "changes", "batch")
COLUMNS = (*JSON_COLUMNS, "version", "address")


class ShownChange(NamedTuple):
    """A changed field: its title, and its old and new value as text."""

    title: str
    old: str
    new: str


@dataclass(slots=True)
class ShownEntry:
    """An entry of the activity log, and what pages show besides the columns."""

    id: int
    at: datetime
    actor: str
    action: str
    kind: str
    record_id: int
    label: str
    changes: Mapping[str, Any]
    batch: str
    version: int
    address: str
    action_title: str
    kind_title: str
    shown_changes: list[ShownChange] = field(default_factory=list)
    is_there: bool = False  # the record exists, so its history has a page
    records: int = 1  # the number of entries it stands for on the dashboard
    is_more: bool = False  # ``records`` is a lower bound


def rows(
    dbsession: Session, start: int, length: int, *conditions: ColumnElement[bool], names: tuple[str, ...] = COLUMNS
) -> list[dict[str, Any]]:
    """Return the columns ``names`` of ``length`` entries that fulfil all conditions, newest first, from ``start``."""
    columns = [getattr(AdminActivity, name) for name in names]
    query = select(*columns).where(*conditions).order_by(AdminActivity.id.desc()).offset(start).limit(length)
    return [dict(row._mapping) for row in dbsession.execute(query)]


def shown_entries(request: Request, entry_rows: list[dict[str, Any]]) -> list[ShownEntry]:
    """Return rows of COLUMNS as entries for a file."""
    kinds = request.registry["kinds"]
    return [_shown(kinds.get(row["kind"]), row) for row in entry_rows]


def page_entries(request: Request, entry_rows: list[dict[str, Any]]) -> list[ShownEntry]:
    """Return rows of COLUMNS as entries for a page, which links to the records that exist."""
    entries = shown_entries(request, entry_rows)
    existing = {
        name: _existing_ids(request.dbsession, kind, entries) for name, kind in request.registry["kinds"].items()
    }
    for entry in entries:
        entry.is_there = entry.record_id in existing.get(entry.kind, ())
    return entries


def _shown(kind: Kind | None, row: dict[str, Any]) -> ShownEntry:
    return ShownEntry(
        **row,
        action_title=ACTIONS.get(row["action"], row["action"]),
        kind_title=kind.title if kind else row["kind"],
        shown_changes=_changes(kind, row["changes"]) if kind else [],
    )


def _changes(kind: Kind, changes: Mapping[str, Any]) -> list[ShownChange]:
    """Return the changes of the kind's fields; derived columns such as the airport's id are left out."""
    return [
        ShownChange(kind.fields[name].title, kind.fields[name].shown(pair["old"]), kind.fields[name].shown(pair["new"]))
        for name, pair in changes.items()
        if name in kind.fields
    ]


def _existing_ids(dbsession: Session, kind: Kind, entries: list[ShownEntry]) -> Collection[int]:
    """Return the ids of the entries' records of a kind that exist, live or deleted."""
    ids = {entry.record_id for entry in entries if entry.kind == kind.name}
    return set(dbsession.scalars(select(kind.model.id).where(kind.model.id.in_(ids)))) if ids else set()
