"""Conflicts of concurrent edits: a write names the version of the record that it replaces."""

from groundtransport.records.edit.merge import Merge
from groundtransport.records.list.query import parse_int
from groundtransport.records.model import RecordColumns
from groundtransport.request import Request
from groundtransport.web.form_data import submitted


class Conflict(Exception):
    """Both sides changed the same field. ``merge`` holds both values, and the fields that could be merged."""

    def __init__(self, row: RecordColumns, merge: Merge) -> None:
        super().__init__(row.id)
        self.row, self.merge = row, merge


class StaleDelete(Exception):
    """The record has changed since the user confirmed its deletion."""

    def __init__(self, row: RecordColumns) -> None:
        super().__init__(row.id)
        self.row = row


def sent_version(request: Request) -> int | None:
    """Return the version that a write names, None if it names none, 0 if it is no valid number."""
    if request.method in ("GET", "HEAD"):
        return None
    text = submitted(request, ("version",)).get("version")
    return None if text is None else parse_int(text) or 0
