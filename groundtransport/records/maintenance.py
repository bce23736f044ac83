"""Whether what lists read besides the records is right, and making it anew: search texts, search index, counters."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, func, select, text

from groundtransport.indexes import build, spec_of
from groundtransport.records.kind import Kind
from groundtransport.records.search.terms import search_text

CHUNK = 2_000  # records read at a time
SHOWN = 5  # records that a finding names


def check(connection: Connection, kind: Kind) -> Iterator[str]:
    """Yield what is wrong with a kind, in words; nothing when all is well."""
    facts = spec_of(kind.model.__table__)
    assert facts is not None
    lacking = [part.name for part in build.missing(connection, facts)]
    if lacking:
        yield f"{kind.name}: missing: {', '.join(lacking)}"
        return
    stale = [record_id for record_id, _ in stale_texts(connection, kind)]
    if stale:
        named = ", ".join(map(str, stale[:SHOWN])) + (" ..." if len(stale) > SHOWN else "")
        yield f"{kind.name}: {len(stale):,} search texts are not what the records say: {named}"
    for name, kept, found in build.miscounted(connection, facts):
        yield f"{kind.name}: the counter {name} says {kept:,}, and there are {found:,}"
    if not build.search_is_whole(connection, facts):
        yield f"{kind.name}: the index of searches does not hold what the records say"


def stale_texts(connection: Connection, kind: Kind) -> Iterator[tuple[int, str]]:
    """Yield the ids of records whose search text is not what they say, and what it should be."""
    table = kind.model.__table__
    columns = [table.c[name] for name in ("id", "search_text", "airport_code", *kind.fields)]
    last = 0
    while True:
        page = select(*columns).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        rows = connection.execute(page).mappings().all()
        for row in rows:
            right = search_text(kind, dict(row))
            if row["search_text"] != right:
                yield row["id"], right
        if len(rows) < CHUNK:
            return
        last = rows[-1]["id"]


def reindex(connection: Connection, kind: Kind, say: Callable[[str], None]) -> int:
    """Make everything anew that lists read besides the records; return how many search texts were wrong.

    Inside the connection's transaction; writers of the kind wait meanwhile.
    """
    facts: Any = spec_of(kind.model.__table__)
    table = kind.model.__table__
    build.hold_writers(connection, facts)
    build.drop(connection, facts, indexes=False)
    stale = list(stale_texts(connection, kind))
    say(f"{kind.name}: {len(stale):,} of {connection.scalar(select(func.count()).select_from(table)):,} search texts")
    renew = text(f"UPDATE {table.name} SET search_text = :text WHERE id = :id")  # noqa: S608  # a kind's own name
    for start in range(0, len(stale), CHUNK):
        chunk = stale[start : start + CHUNK]
        connection.execute(renew, [{"id": record_id, "text": right} for record_id, right in chunk])
    build.create(connection, facts, say)
    return len(stale)
