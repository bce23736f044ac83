"""What happened to a record, as frozen data: no ORM row, no request.

The one writer publishes these inside the transaction of the change: a subscriber that raises undoes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Actor:
    """Who does it: made once, by the view or by the command line.

    ``batch`` names an import or a bulk action; ``user_id`` is None for the command line.
    """

    name: str
    user_id: int | None = None
    request_id: str = ""
    address: str = ""
    batch: str = ""


@dataclass(frozen=True)
class RecordChanged:
    """The base of all five. ``before`` and ``after`` map each field to its value; an absent side is empty."""

    kind: str
    record_id: int
    label: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    version: int  # of the record, after the change
    actor: Actor
    # The session of the change, for a subscriber that writes in the same transaction.
    dbsession: Session = field(repr=False, compare=False)
    action = ""


class RecordCreated(RecordChanged):
    action = "create"


class RecordUpdated(RecordChanged):
    action = "update"


class RecordDeleted(RecordChanged):
    action = "delete"


class RecordRestored(RecordChanged):
    action = "restore"


class RecordPurged(RecordChanged):
    """A deleted record was removed for good."""

    action = "purge"
