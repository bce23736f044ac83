"""The signed chain of the security log: each signature covers the event and the signature of the event before.

Events that are older than the chain have no signature; their numbers are lower than those of all signed events.
"""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, insert, select, update

from groundtransport.db.functions import advisory_lock
from groundtransport.events import Values
from groundtransport.security_log.models import SecurityEvent, SecurityHead
from groundtransport.signing import Key, canonical

# The signed columns.
COLUMNS = ("id", "at", "event", "user_id", "name", "about", "address", "network", "request_id", "details", "key_id")


def text_of(row: Values, previous: str) -> str:
    """Return the text to sign: the columns of an event and ``previous``, the signature of the event before."""
    values = {name: row[name] for name in COLUMNS}
    return "security " + canonical({**values, "at": row["at"].isoformat(), "previous": previous})


def append(connection: Connection, key: Key, rows: Iterable[Mapping[str, object]]) -> None:
    """Number, sign and insert events, and update the chain head. The head stays locked until the transaction ends."""
    head = SecurityHead.__table__
    query = select(head.c.number, head.c.mac).where(head.c.id == 1, advisory_lock(head.c.id)).with_for_update()
    last, mac = connection.execute(query).one()
    signed = []
    for number, values in enumerate(rows, last + 1):
        row = {**values, "id": number, "key_id": key.key_id}
        mac = key.sign(text_of(row, mac))
        signed.append({**row, "mac": mac})
    connection.execute(insert(SecurityEvent), signed)
    connection.execute(update(SecurityHead).values(number=last + len(signed), mac=mac))
