"""Check and rebuild the derived data of a kind: search texts, search index, counters."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, func, select, text

from groundtransport.airports.models import Airport
from groundtransport.indexes import build, spec_of
from groundtransport.records.derived import derived_columns, derived_values
from groundtransport.records.kind import Kind
from groundtransport.records.search import layout

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
    stale = [record.id for record in stale_texts(connection, kind)]
    if stale:
        ids = ", ".join(map(str, stale[:SHOWN])) + (" ..." if len(stale) > SHOWN else "")
        yield f"{kind.name}: {len(stale):,} search texts are not what the records say: {ids}"
    for name, counter, count in build.miscounted(connection, spec):
        yield f"{kind.name}: the counter {name} says {counter:,}, and there are {count:,}"
    if not build.search_is_whole(connection, spec):
        yield f"{kind.name}: the index of searches does not hold what the records say"


class Stale(NamedTuple):
    """A record whose derived columns are wrong, with the correct ``values``."""

    id: int
    version: int
    values: dict[str, str | None]


def stale_texts(connection: Connection, kind: Kind) -> Iterator[Stale]:
    """Yield each record whose derived columns are wrong."""
    table = kind.model.__table__
    columns = [table.c[name] for name in ("id", "version", "airport_code", *kind.fields, *derived_columns(kind))]
    records = select(*columns, Airport.country).join(Airport, Airport.id == table.c.airport_id)
    last = 0
    while True:
        page = records.where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        rows = connection.execute(page).mappings().all()
        for row in rows:
            correct = derived_values(kind, dict(row), row["country"])
            if any(row[name] != value for name, value in correct.items()):
                yield Stale(row["id"], row["version"], correct)
        if len(rows) < CHUNK:
            return
        last = rows[-1]["id"]


def reindex(connection: Connection, kind: Kind, say: Callable[[str], None]) -> int:
    """Rebuild the derived data of a kind; return the number of search texts that were wrong.

    Runs in the connection's transaction and locks the table against writers. ``say`` reports the progress.
    """
    spec = spec_of(kind.model.__table__)
    assert spec is not None
    table = kind.model.__table__
    build.hold_writers(connection, spec)
    build.drop(connection, spec, indexes=bool(layout.outdated(connection, [kind])))  # then most texts change
    stale = _renew(connection, kind)
    say(f"{kind.name}: {stale:,} of {connection.scalar(select(func.count()).select_from(table)):,} search texts")
    build.create(connection, spec, say)
    layout.store(connection, kind)
    return stale


def _renew(connection: Connection, kind: Kind) -> int:
    """Store the correct texts of the records whose stored ones are wrong; return their number."""
    table, number = kind.model.__table__, 0
    assignments = ", ".join(f"{name} = :{name}" for name in derived_columns(kind))
    renew = text(f"UPDATE {table.name} SET {assignments} WHERE id = :id")  # noqa: S608  # names of a kind's table and columns
    stale = stale_texts(connection, kind)
    while chunk := list(islice(stale, CHUNK)):
        number += len(chunk)
        connection.execute(renew, [{"id": record.id, **record.values} for record in chunk])
    return number


def lacks_parts(connection: Connection, kind: Kind) -> bool:
    """Return True if a kind's table lacks an index or a trigger. Reads no records."""
    spec = spec_of(kind.model.__table__)
    assert spec is not None
    return bool(build.missing(connection, spec))
