"""The search texts of the activity log, a derived column: detect wrong ones, and recompute them."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from sqlalchemy import Connection, Engine, bindparam, select, update

from groundtransport.audit import protection
from groundtransport.audit.models import AdminActivity
from groundtransport.db import autocommit_engine, table_of, write_engine
from groundtransport.db.migration_locks import WAIT, repeat
from groundtransport.indexes import layouts
from groundtransport.text import FOLD_VERSION, PART, fold

CHUNK = 5_000  # entries per query
AT_ONCE = 500  # entries of one transaction, whose writers wait for it
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


def renew(engine: Engine) -> int:
    """Store the correct search texts in small transactions; return the number of those that were wrong."""
    done = 0
    with autocommit_engine(engine).connect() as connection:
        wrong = stale(connection)
        while entries := list(islice(wrong, AT_ONCE)):
            repeat(partial(_store, engine, entries))
            done += len(entries)
    with write_engine(engine).begin() as writer:
        layouts.store(writer, AdminActivity.__tablename__, LAYOUT)
    return done


def _store(engine: Engine, entries: Sequence[tuple[int, str]]) -> None:
    """Store search texts by the numbers of their entries. Raise OperationalError if PostgreSQL's table is locked.

    To allow the update locks the table, and all who use it wait behind this: so it waits for a short time itself.
    """
    params = [{"number": number, "expected": expected} for number, expected in entries]
    table, wait = table_of(AdminActivity), WAIT if engine.dialect.name == "postgresql" else None
    with write_engine(engine, wait).begin() as writer, protection.lifted(writer, protection.UPDATE_GUARDS):
        statement = update(table).where(table.c.id == bindparam("number"))
        writer.execute(statement.values(search_text=bindparam("expected")), params)
