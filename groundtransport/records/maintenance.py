"""Check and rebuild the derived data of a kind: search texts, search index, counters."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, func, select, text

from groundtransport.indexes import build, spec_of
from groundtransport.records.kind import Kind
from groundtransport.records.search import layout
from groundtransport.records.search.terms import search_text

CHUNK = 2_000  # records read at a time
SHOWN = 5  # record ids in a message


def check(connection: Connection, kind: Kind) -> Iterator[str]:
    """Yield a message for each fault in the derived data of a kind."""
    spec = spec_of(kind.model.__table__)
    assert spec is not None
    missing = [part.name for part in build.missing(connection, spec)]
    if missing:
        yield f"{kind.name}: missing: {', '.join(missing)}"
        return
    if layout.outdated(connection, [kind]):
        yield f"{kind.name}: the search texts were made for other filters or fields"
    stale = [record_id for record_id, _ in stale_texts(connection, kind)]
    if stale:
        ids = ", ".join(map(str, stale[:SHOWN])) + (" ..." if len(stale) > SHOWN else "")
        yield f"{kind.name}: {len(stale):,} search texts are not what the records say: {ids}"
    for name, counter, count in build.miscounted(connection, spec):
        yield f"{kind.name}: the counter {name} says {counter:,}, and there are {count:,}"
    if not build.search_is_whole(connection, spec):
        yield f"{kind.name}: the index of searches does not hold what the records say"


def stale_texts(connection: Connection, kind: Kind) -> Iterator[tuple[int, str]]:
    """Yield the id and the correct search text of each record whose stored one is wrong."""
    table = kind.model.__table__
    columns = [table.c[name] for name in ("id", "search_text", "airport_code", *kind.fields)]
    last = 0
    while True:
        page = select(*columns).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        rows = connection.execute(page).mappings().all()
        for row in rows:
            correct = search_text(kind, dict(row))
            if row["search_text"] != correct:
                yield row["id"], correct
        if len(rows) < CHUNK:
            return
        last = rows[-1]["id"]


def reindex(connection: Connection, kind: Kind, say: Callable[[str], None]) -> int:
    """Rebuild the derived data of a kind; return the number of search texts that were wrong.

    Runs in the connection's transaction and locks the table against writers. ``say`` reports the progress.
    """
    spec: Any = spec_of(kind.model.__table__)
    table = kind.model.__table__
    build.hold_writers(connection, spec)
    build.drop(connection, spec, indexes=False)
    stale = list(stale_texts(connection, kind))
    say(f"{kind.name}: {len(stale):,} of {connection.scalar(select(func.count()).select_from(table)):,} search texts")
    renew = text(f"UPDATE {table.name} SET search_text = :text WHERE id = :id")  # noqa: S608  # the name of a kind's table
    for start in range(0, len(stale), CHUNK):
        chunk = stale[start : start + CHUNK]
        connection.execute(renew, [{"id": record_id, "text": correct} for record_id, correct in chunk])
    build.create(connection, spec, say)
    layout.store(connection, kind)
    return len(stale)


def needs_reindex(connection: Connection, kind: Kind) -> bool:
    """Return True if the layout of the search texts has changed or an index is missing. Reads no records."""
    spec: Any = spec_of(kind.model.__table__)
    return bool(layout.outdated(connection, [kind]) or build.missing(connection, spec))
