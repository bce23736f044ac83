"""Creating, verifying and removing the derived objects of a kind's table."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

from sqlalchemy import Connection, Engine, MetaData, text
from sqlalchemy.exc import DBAPIError

from groundtransport.db import without_time_limit
from groundtransport.indexes import postgresql, sqlite
from groundtransport.indexes.ddl import Part
from groundtransport.indexes.spec import TableSpec, spec_of

NO_TRIGRAMS = (
    "PostgreSQL's extension pg_trgm is needed, and could not be created ({reason}). Install the contrib modules of the "
    "server (Debian: they are in the package of the server), then let a superuser run in this database: "
    "CREATE EXTENSION pg_trgm"
)


class TrigramsMissing(RuntimeError):
    """The extension pg_trgm, which searches need, cannot be created. The message says what to do."""


DIALECTS: dict[str, ModuleType] = {"sqlite": sqlite, "postgresql": postgresql}


def dialect_of(connection: Connection) -> ModuleType:
    """Return the module of the connection's database: ``indexes.sqlite`` or ``indexes.postgresql``."""
    return DIALECTS[connection.dialect.name]


def every_table(metadata: MetaData) -> Iterator[TableSpec]:
    """Yield the specification of each kind's table."""
    for table in metadata.sorted_tables:
        spec = spec_of(table)
        if spec:
            yield spec


def existing(connection: Connection, table: str) -> set[str]:
    """Return the names of the derived objects that a table has in the database, without invalid indexes."""
    if connection.dialect.name == "postgresql":
        query = text(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE i.indrelid = to_regclass(:table) AND i.indisvalid "
            "UNION SELECT tgname FROM pg_trigger WHERE tgrelid = to_regclass(:table) AND NOT tgisinternal "
            "UNION SELECT proname || '()' FROM pg_proc WHERE proname = :table || '_count'"
        )
    else:
        query = text(
            "SELECT name FROM sqlite_master WHERE (tbl_name = :table AND type IN ('index', 'trigger')) "
            "OR name IN (:table || '_live', :table || '_search')"
        )
    return set(connection.scalars(query, {"table": table}))


def missing(connection: Connection, spec: TableSpec) -> list[Part]:
    """Return the derived objects that a table lacks."""
    names = existing(connection, spec.table)
    return [part for part in dialect_of(connection).parts(spec) if part.name not in names]


def create(connection: Connection, spec: TableSpec, say: Callable[[str], None]) -> None:
    """Create and fill the missing derived objects in the connection's transaction; writers wait until it ends.

    ``say`` is called with a line of progress for each object. Raise TrigramsMissing if pg_trgm cannot be created.
    """
    prepare(connection)
    parts = missing(connection, spec)
    for number, part in enumerate(parts, 1):
        say(f"{spec.table}: {part.name} ({number} of {len(parts)})")
        _execute(connection, part.drop, part.create)
    if any(part.kind != "index" for part in parts):
        say(f"{spec.table}: filling the search index and the counters")
        _execute(connection, *dialect_of(connection).fill(spec))


def drop(connection: Connection, spec: TableSpec, *, indexes: bool = True) -> None:
    """Remove the derived objects of a table; keep the indexes for sorting if ``indexes`` is false."""
    for part in reversed(list(dialect_of(connection).parts(spec))):
        if indexes or part.kind != "index" or part.name == f"ix_{spec.table}_search":
            _execute(connection, part.drop)


def tidy(engine: Engine, spec: TableSpec, changed: int, say: Callable[[str], None]) -> None:
    """Update PostgreSQL's statistics of a table after a change of ``changed`` rows. SQLite needs no such step."""
    if engine.dialect.name == "postgresql":
        with without_time_limit(engine) as connection:
            postgresql.tidy(connection, spec, changed, say)


def hold_writers(connection: Connection, spec: TableSpec) -> None:
    """Block writers of the table until the transaction ends; on SQLite, BEGIN IMMEDIATE already does."""
    if connection.dialect.name == "postgresql":
        _execute(connection, f"LOCK TABLE {spec.table} IN SHARE ROW EXCLUSIVE MODE")


def miscounted(connection: Connection, spec: TableSpec) -> Iterator[tuple[str, int, int]]:
    """Yield each wrong counter: its name, its value, the counted value. Count in a savepoint that is rolled back."""
    with _snapshot(connection) as snapshot:
        stored = _counters(snapshot, spec)
        with snapshot.begin_nested() as savepoint:
            run(snapshot, dialect_of(snapshot).count_anew(spec))
            counted = _counters(snapshot, spec)
            savepoint.rollback()
    for name in sorted({**stored, **counted}):
        if stored.get(name, 0) != counted.get(name, 0):
            yield name, stored.get(name, 0), counted.get(name, 0)


@contextmanager
def _snapshot(connection: Connection) -> Iterator[Connection]:
    """Yield a connection whose reads all see the same snapshot of the database.

    On SQLite it is the given connection, whose transaction blocks writers. On PostgreSQL it is another connection at
    REPEATABLE READ; it holds the lock that stops ``record_fold`` from moving changes into the counters. The lock must
    be taken before the snapshot.
    """
    if connection.dialect.name != "postgresql":
        yield connection
        return
    with connection.engine.connect() as other:
        other.execute(text("SELECT pg_advisory_lock(hashtext('record_fold'))"))
        other.commit()
        try:
            yield other.execution_options(isolation_level="REPEATABLE READ")
        finally:
            other.rollback()
            other.execute(text("SELECT pg_advisory_unlock(hashtext('record_fold'))"))
            other.commit()


def _counters(connection: Connection, spec: TableSpec) -> dict[str, int]:
    """Return the values of a table's counters, by name."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT record_fold()"))
    counts = text("SELECT airport_code || '/' || choice, n FROM record_count WHERE kind = :kind")
    blocks = text("SELECT 'block ' || block, n FROM record_block WHERE kind = :kind")
    kind = {"kind": spec.table}
    return {name: int(n) for query in (counts, blocks) for name, n in connection.execute(query, kind)}


def search_is_whole(connection: Connection, spec: TableSpec) -> bool:
    """Return True if the search index holds the text of every live record and nothing else."""
    if connection.dialect.name == "postgresql":
        return True  # PostgreSQL maintains the index; ``existing`` reports a missing or invalid one
    try:
        with connection.begin_nested():
            name = f"{spec.table}_search"
            _execute(connection, f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")
    except DBAPIError:
        return False
    return True


def prepare(connection: Connection) -> None:
    """Create what all tables share: the extension pg_trgm and functions. Raise TrigramsMissing if not permitted."""
    if connection.dialect.name != "postgresql":
        return
    if not connection.scalar(text("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'")):
        try:
            _execute(connection, postgresql.EXTENSION)
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0]
            raise TrigramsMissing(NO_TRIGRAMS.format(reason=reason)) from error
    _execute(connection, postgresql.ROOM, *postgresql.FUNCTIONS.values())


def _execute(connection: Connection, *statements: str) -> None:
    run(connection, statements)


def run(connection: Connection, statements: Iterable[str]) -> None:
    """Execute SQL statements."""
    for statement in statements:
        connection.execute(text(statement))
