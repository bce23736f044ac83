"""Events of records: frozen data without ORM rows or requests.

The writer publishes them in the transaction of the change. An exception in a subscriber rolls the change back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

# The value of a field, whose type the field knows: str, int, bool or None.
Value = Any
Values = Mapping[str, Value]  # the values of a record by field name
OTHER_RECORD = "other_record"  # the other record of a pair, beside the fields
MERGED_INTO = "merged_into"  # in ``after`` of a deletion: the record that survives it
AIRPORT = "airport"  # in place of a kind, in the activity log


@dataclass(frozen=True)
class Actor:
    """The user or command that makes a change, created once by the view or the command.

    ``batch`` identifies an import or a bulk action. ``user_id`` is None for commands, and their ``client_ip`` is "".
    ``token`` is the name of the API token that the user's program sent.
    """

    name: str
    user_id: int | None = None
    request_id: str = ""
    client_ip: str = ""
    batch: str = ""
    token: str = ""


@dataclass(frozen=True)
class Change:
    """Base class of what the activity log records.

    ``before`` and ``after`` map field names to values; a missing side is empty.
    """

    kind: str
    record_id: int
    label: str
    before: Values
    after: Values
    version: int  # of the record, after the change
    actor: Actor
    # The session of the change, for subscribers that write in the same transaction.
    dbsession: Session = field(repr=False, compare=False)
    action = ""


class RecordChanged(Change):
    """Base class of the events of records."""


class AirportEdited(Change):
    """An administrator edited an airport; ``kind`` is AIRPORT."""

    action = "update"


class NoteAdded(Change):
    """Somebody wrote a note on a record, which is not changed itself."""

    action = "note"


class NoteDeleted(Change):
    """A note on a record was deleted."""

    action = "unnote"


class RecordCreated(RecordChanged):
    """A record was created."""

    action = "create"


class RecordUpdated(RecordChanged):
    """A record was changed."""

    action = "update"


class RecordVerified(RecordChanged):
    """A record was checked to be right, or that mark was taken back; its fields and its version stay.

    ``before`` and ``after`` hold ``verified_at`` (ISO 8601) and ``verified_by`` besides the fields.
    """

    action = "verify"


class RecordDeleted(RecordChanged):
    """A record was deleted; it can be restored. ``after`` is empty, or names the record that survives a merge."""

    action = "delete"


class RecordRestored(RecordChanged):
    """A deleted record was restored."""

    action = "restore"


class RecordPurged(RecordChanged):
    """A deleted record was removed permanently."""

    action = "purge"


class PairRejected(Change):
    """A user said that a record is no double of another one, ``other_record`` in ``after``."""

    action = "distinct"


class PairProposed(Change):
    """A user took a rejection back: the pair is proposed again."""

    action = "propose"


# The actions that change a record; the others are entries about it.
CHANGING = (
    RecordCreated.action,
    RecordUpdated.action,
    RecordDeleted.action,
    RecordRestored.action,
    RecordPurged.action,
)
NOTES = (NoteAdded.action, NoteDeleted.action)
