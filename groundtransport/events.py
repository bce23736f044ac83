"""Events of records: frozen data without ORM rows or requests.

The writer publishes them in the transaction of the change. An exception in a subscriber rolls the change back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Actor:
    """The user or command that makes a change, created once by the view or the command.

    ``batch`` identifies an import or a bulk action. ``user_id`` is None for commands. ``address`` is the client IP.
    """

    name: str
    user_id: int | None = None
    request_id: str = ""
    address: str = ""
    batch: str = ""


@dataclass(frozen=True)
class RecordChanged:
    """Base class of the events. ``before`` and ``after`` map field names to values; a missing side is empty."""

    kind: str
    record_id: int
    label: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    version: int  # of the record, after the change
    actor: Actor
    # The session of the change, for subscribers that write in the same transaction.
    dbsession: Session = field(repr=False, compare=False)
    action = ""


class RecordCreated(RecordChanged):
    """A record was created."""

    action = "create"


class RecordUpdated(RecordChanged):
    """A record was changed."""

    action = "update"


class RecordDeleted(RecordChanged):
    """A record was deleted; it can be restored."""

    action = "delete"


class RecordRestored(RecordChanged):
    """A deleted record was restored."""

    action = "restore"


class RecordPurged(RecordChanged):
    """A deleted record was removed permanently."""

    action = "purge"
