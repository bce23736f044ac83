"""A save names the version that it replaces; a stale one is refused, and nothing typed is lost."""

from typing import Any

from pyramid.request import Request

from groundtransport.web.fields import submitted


class Conflict(Exception):
    """Somebody saved the record in between. ``page`` is the form or the confirmation that was sent."""

    def __init__(self, page: Any, row: Any) -> None:
        super().__init__(row.id)
        self.page, self.row = page, row


def check_version(request: Request, row: Any, page: Any) -> None:
    """Raise Conflict unless ``version`` is the record's; a client that sends none is served without this guard."""
    version = submitted(request, ("version",)).get("version")
    if version is not None and version != str(row.version):
        raise Conflict(page, row)
