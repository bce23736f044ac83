"""A save names the version that it replaces; what somebody saved in between is not overwritten unseen."""

from typing import Any

from pyramid.request import Request

from groundtransport.records.edit.merge import Merge
from groundtransport.records.list.query import number
from groundtransport.web.form_data import submitted


class Conflict(Exception):
    """Both sides changed the same field. ``merge`` holds both, and what could be put together."""

    def __init__(self, row: Any, merge: Merge) -> None:
        super().__init__(row.id)
        self.row, self.merge = row, merge


class StaleDelete(Exception):
    """The record is not any more what the person saw when they decided to delete it."""

    def __init__(self, row: Any) -> None:
        super().__init__(row.id)
        self.row = row


def sent_version(request: Request) -> int | None:
    """Return the version that a write names; None from a client that names none, 0 for one that never was."""
    if request.method in ("GET", "HEAD"):
        return None
    text = submitted(request, ("version",)).get("version")
    return None if text is None else number(text) or 0
