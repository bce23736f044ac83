"""The search texts of entries: derived, so not signed. Compared with the entries, and made anew."""

from collections.abc import Iterator

from sqlalchemy import Connection, bindparam, select, update

from groundtransport.audit import protection
from groundtransport.audit.models import AdminActivity
from groundtransport.text import PART, fold

CHUNK = 5_000  # entries read at a time
SHOWN = 5  # entries that a finding names


def search_text(label: str, actor: str) -> str:
    """Return what an entry is searched in: the record's name and the person, folded."""
    return PART.join((fold(label), fold(actor)))


def stale(connection: Connection) -> Iterator[tuple[int, str]]:
    """Yield the numbers of entries whose search text is not what they say, and what it should be."""
    table, last = AdminActivity.__table__, 0
    while True:
        page = select(table.c.id, table.c.label, table.c.actor, table.c.search_text).where(table.c.id > last)
        rows = connection.execute(page.order_by(table.c.id).limit(CHUNK)).all()
        for number, label, actor, said in rows:
            right = search_text(label, actor)
            if said != right:
                yield number, right
        if len(rows) < CHUNK:
            return
        last = rows[-1].id


def check(connection: Connection) -> Iterator[str]:
    """Yield what is wrong, in words."""
    numbers = [number for number, _ in stale(connection)]
    if numbers:
        named = ", ".join(map(str, numbers[:SHOWN])) + (" ..." if len(numbers) > SHOWN else "")
        yield f"the activity log: {len(numbers):,} search texts are not what the entries say: {named}"


def renew(connection: Connection) -> int:
    """Make the wrong ones anew, inside the connection's transaction; return how many they were."""
    found = [{"number": number, "right": right} for number, right in stale(connection)]
    if found:
        table = AdminActivity.__table__
        with protection.lifted(connection):
            renewed = update(table).where(table.c.id == bindparam("number"))  # type: ignore[arg-type]
            connection.execute(renewed.values(search_text=bindparam("right")), found)
    return len(found)
