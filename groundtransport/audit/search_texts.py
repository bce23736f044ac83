"""The search texts of the activity log, a derived column: detect wrong ones, and recompute them."""

from collections.abc import Iterator

from sqlalchemy import Connection, bindparam, select, update

from groundtransport.audit import protection
from groundtransport.audit.models import AdminActivity
from groundtransport.db import table_of
from groundtransport.indexes import layouts
from groundtransport.text import FOLD_VERSION, PART, fold

CHUNK = 5_000  # entries per query
SHOWN = 5  # numbers in a message
LAYOUT = f"fold {FOLD_VERSION}"  # of the stored search texts


def search_text(label: str, actor: str) -> str:
    """Return the search text of an entry: the record's label and the actor, folded."""
    return PART.join((fold(label), fold(actor)))


def stale(connection: Connection) -> Iterator[tuple[int, str]]:
    """Yield the number and the correct search text of each entry whose search text is wrong."""
    table, last = AdminActivity.__table__, 0
    while True:
        page = select(table.c.id, table.c.label, table.c.actor, table.c.search_text).where(table.c.id > last)
        rows = connection.execute(page.order_by(table.c.id).limit(CHUNK)).all()
        for number, label, actor, stored in rows:
            expected = search_text(label, actor)
            if stored != expected:
                yield number, expected
        if len(rows) < CHUNK:
            return
        last = rows[-1].id


def check(connection: Connection) -> Iterator[str]:
    """Yield a message if search texts are wrong."""
    numbers = [number for number, _ in stale(connection)]
    if numbers:
        named = ", ".join(map(str, numbers[:SHOWN])) + (" ..." if len(numbers) > SHOWN else "")
        yield f"the activity log: {len(numbers):,} search texts do not match their entries: {named}"


def is_outdated(connection: Connection) -> bool:
    """Return True if the stored search texts were folded by other rules than today's. Reads no entries."""
    return layouts.read(connection).get(AdminActivity.__tablename__) != LAYOUT


def renew(connection: Connection) -> int:
    """Recompute the wrong search texts in the connection's transaction; return their number."""
    params = [{"number": number, "expected": expected} for number, expected in stale(connection)]
    if params:
        table = table_of(AdminActivity)
        with protection.lifted(connection):
            statement = update(table).where(table.c.id == bindparam("number"))
            connection.execute(statement.values(search_text=bindparam("expected")), params)
    layouts.store(connection, AdminActivity.__tablename__, LAYOUT)
    return len(params)
