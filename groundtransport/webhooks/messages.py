"""The messages to webhooks: an entry of the activity log as in the feed of changes, with the record as it is now."""

from collections.abc import Mapping
from datetime import datetime

import orjson
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from groundtransport.api.feed import add_records, entries_behind
from groundtransport.api.view import OPTIONS
from groundtransport.db import read_engine
from groundtransport.records.kind import Kind

# The events by the actions of the activity log.
EVENTS = {
    "create": "created",
    "update": "updated",
    "verify": "verified",
    "delete": "deleted",
    "restore": "restored",
    "purge": "purged",
}
TEST = "test"


def message(engine: Engine, kinds: Mapping[str, Kind], event: str, number: int) -> bytes | None:
    """Return the body of the message about an entry; None if the entry was archived.

    The transaction has ended when this returns.
    """
    with Session(read_engine(engine)) as dbsession:
        items = entries_behind(dbsession, number - 1, 1, number)
        add_records(dbsession, kinds, items)
        return _body(f"record.{event}", items[0]["at"], items[0]) if items else None


def test_message(at: datetime) -> bytes:
    """Return the body of a message that tests a webhook."""
    return _body("webhook.test", at, {})


def _body(event_type: str, at: object, data: Mapping[str, object]) -> bytes:
    return orjson.dumps({"type": event_type, "timestamp": at, "data": data}, option=OPTIONS)
