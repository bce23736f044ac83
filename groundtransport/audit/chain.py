"""The signed chain of the activity log: each signature covers the entry and the signature of the entry before.

The database does not hold the key. Someone who can only write to the database cannot change or remove an entry
unnoticed; removal at the end shows in a comparison with the checkpoints in the process log.
"""

from groundtransport.events import Values
from groundtransport.signing import Key, canonical

__all__ = ["COLUMNS", "Key", "canonical", "text_of"]  # the subscriber imports all it signs with from here

# The signed columns.
COLUMNS = (
    "id",
    "at",
    "actor_id",
    "actor",
    "token",
    "request_id",
    "address",
    "batch",
    "action",
    "kind",
    "record_id",
    "version",
    "airport_code",
    "label",
    "changes",
    "key_id",
)


def text_of(entry: Values, previous: str) -> str:
    """Return the text to sign: the entry as canonical JSON, with ``previous``, the signature of the entry before.

    ``changes`` is the canonical JSON text stored in the table, ``at`` an aware datetime.
    """
    values = {name: entry[name] for name in COLUMNS}
    if not values["token"]:
        del values["token"]  # as in the entries that are older than the column
    return canonical({**values, "at": entry["at"].isoformat(), "previous": previous})
