"""The JSON of records and of entries of the activity log, and the ETags of records."""

from collections.abc import Mapping

from groundtransport.records.kind import Kind
from groundtransport.records.list.query import row_names
from groundtransport.records.model import RecordColumns
from groundtransport.records.validity import VALIDITY

# They may change while the version stays, so a body may hold any value of them.
UNVERSIONED = ("verified_at", "verified_by", "validity")
READ_ONLY = ("id", "airport_code", "created_at", "updated_at", "version")
ENTRY_NAMES = (
    "id",
    "at",
    "actor",
    "token",
    "action",
    "kind",
    "record_id",
    "version",
    "airport_code",
    "label",
    "changes",
    "batch",
)


def record_json(kind: Kind, row: RecordColumns) -> dict[str, object]:
    """Return the JSON value of a record: what a row of the list has, too."""
    return {name: getattr(row, name) for name in (*row_names(kind), VALIDITY)}


def etag_of(version: int) -> str:
    """Return the ETag of a record at a version."""
    return f'"{version}"'


def is_same(stored: object, sent: object) -> bool:
    """Return True if a sent read-only member equals the stored value; times are compared as the API writes them."""
    if hasattr(stored, "isoformat"):
        return bool(sent == stored.isoformat().replace("+00:00", "Z"))
    return type(sent) is type(stored) and bool(sent == stored)


def unchanged(row: object, sent: Mapping[str, object], name: str) -> bool:
    """Return True if a read-only member that was sent is that of the record."""
    return row is not None and is_same(getattr(row, name), sent[name])
