"""Entries of the activity log as pages and files show them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.events import AIRPORT, MERGED_INTO, OTHER_RECORD, NoteAdded, NoteDeleted, Value
from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.request import Request
from groundtransport.text import fold

# The titles of the actions.
ACTIONS = {
    "create": _("create"),
    "update": _("update"),
    "verify": _("verify"),
    "delete": _("delete"),
    "restore": _("restore"),
    "purge": _("purge"),
    NoteAdded.action: _("note"),
    NoteDeleted.action: _("note deleted"),
    "distinct": _("no double"),
    "propose": _("double?"),
}
NOTE = "note"  # the changed "field" of an entry about a note
AIRPORT_TITLES = {
    "name": _("Name"),
    "city": _("City"),
    "closed_on": _("Closed since"),
    "replaced_by": _("Replaced by"),
    "known_as": _("Also known as"),
}
VERIFICATION_TITLES = {"verified_at": _("Verified"), "verified_by": _("Verified by")}
RECORD_TITLES = {OTHER_RECORD: _("Other record"), MERGED_INTO: _("Merged into record")}
JSON_COLUMNS = ("id", "at", "actor", "action", "kind", "record_id", "label", "changes", "batch")
COLUMNS = (*JSON_COLUMNS, "version", "address", "token")


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
    changes: Mapping[str, object]
    batch: str
    version: int
    address: str
    token: str  # the name of the API token, or ""
    action_title: str
    kind_title: str
    shown_changes: list[ShownChange] = field(default_factory=list)
    is_there: bool = False  # the record exists, so its history has a page
    records: int = 1  # the number of entries it stands for on the dashboard
    is_more: bool = False  # ``records`` is a lower bound


def field_titles(request: Request) -> list[tuple[str, str]]:
    """Return the names and translated titles of the fields that an entry can hold, by title; one name can have two."""
    titles = {name: node.title for kind in request.registry["kinds"].values() for name, node in kind.fields.items()}
    titles = {**AIRPORT_TITLES, **VERIFICATION_TITLES, NOTE: _("Note"), **titles}
    return sorted(((name, request.translate(title)) for name, title in titles.items()), key=lambda pair: fold(pair[1]))


def rows(
    dbsession: Session, start: int, length: int, *conditions: ColumnElement[bool], names: tuple[str, ...] = COLUMNS
) -> list[dict[str, object]]:
    """Return the columns ``names`` of ``length`` entries that fulfil all conditions, newest first, from ``start``."""
    columns = [getattr(AdminActivity, name) for name in names]
    query = select(*columns).where(*conditions).order_by(AdminActivity.id.desc()).offset(start).limit(length)
    return [dict(row._mapping) for row in dbsession.execute(query)]


def shown_entries(kinds: Mapping[str, Kind], entry_rows: list[dict[str, Value]]) -> list[ShownEntry]:
    """Return rows of COLUMNS as entries for a file; ``kinds`` are the kinds by name."""
    return [_shown(kinds.get(row["kind"]), row) for row in entry_rows]


def page_entries(request: Request, entry_rows: list[dict[str, object]]) -> list[ShownEntry]:
    """Return rows of COLUMNS as entries for a page, which links to the records that exist."""
    entries = shown_entries(request.registry["kinds"], entry_rows)
    existing = {
        name: _existing_ids(request.dbsession, kind, entries) for name, kind in request.registry["kinds"].items()
    }
    for entry in entries:
        entry.is_there = entry.record_id in existing.get(entry.kind, ())
    return entries


def _shown(kind: Kind | None, row: dict[str, Value]) -> ShownEntry:
    action: str = row["action"]
    return ShownEntry(
        **row,
        action_title=ACTIONS.get(action, action),
        kind_title=kind.title if kind else _("Airport") if row["kind"] == AIRPORT else row["kind"],
        shown_changes=_changes(kind, row["changes"]) if kind else _airport_changes(row),
    )


def _changes(kind: Kind, changes: Mapping[str, Mapping[str, Value]]) -> list[ShownChange]:
    """Return the other record of a decision or a merge, the changes of the fields, of the verification, of notes.

    Derived columns such as the airport's id are left out.
    """
    shown = [
        ShownChange(title, "", str(changes[name]["new"])) for name, title in RECORD_TITLES.items() if name in changes
    ]
    shown += [
        ShownChange(kind.fields[name].title, kind.fields[name].shown(pair["old"]), kind.fields[name].shown(pair["new"]))
        for name, pair in changes.items()
        if name in kind.fields
    ]
    shown += [
        ShownChange(title, _moment_text(changes[name]["old"]), _moment_text(changes[name]["new"]))
        for name, title in VERIFICATION_TITLES.items()
        if name in changes
    ]
    if NOTE in changes and NOTE not in kind.fields:
        shown.append(ShownChange(_("Note"), changes[NOTE]["old"] or "", changes[NOTE]["new"] or ""))
    return shown


def _moment_text(text: str | None) -> str:
    """Return an ISO time to the second; another text as it is."""
    return (text or "").partition(".")[0].replace("T", " ")


def _airport_changes(row: dict[str, Value]) -> list[ShownChange]:
    """Return the changes of an airport; none of a kind that was removed."""
    changes = row["changes"] if row["kind"] == AIRPORT else {}
    return [
        ShownChange(AIRPORT_TITLES[name], pair["old"] or "", pair["new"] or "")
        for name, pair in changes.items()
        if name in AIRPORT_TITLES
    ]


def _existing_ids(dbsession: Session, kind: Kind, entries: list[ShownEntry]) -> Collection[int]:
    """Return the ids of the entries' records of a kind that exist, live or deleted."""
    ids = {entry.record_id for entry in entries if entry.kind == kind.name}
    return set(dbsession.scalars(select(kind.model.id).where(kind.model.id.in_(ids)))) if ids else set()
