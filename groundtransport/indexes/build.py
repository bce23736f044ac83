"""Making what a table has besides its columns, and finding out what of it is missing."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

from sqlalchemy import Connection, Engine, MetaData, text
from sqlalchemy.exc import DBAPIError

from groundtransport.indexes import postgresql, sqlite
from groundtransport.indexes.ddl import Part
from groundtransport.indexes.spec import TableSpec, of_searches, spec_of

NO_TRIGRAMS = (
    "PostgreSQL's extension pg_trgm is needed, and could not be created ({reason}). Install the contrib modules of the "
    "server (Debian: they are in the package of the server), then let a superuser run in this database: "
    "CREATE EXTENSION pg_trgm"
)


class TrigramsMissing(RuntimeError):
    """The database may not have the extension that searches need; the message says what to do."""


def dialect_of(connection: Connection) -> ModuleType:
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def every_table(metadata: MetaData) -> Iterator[TableSpec]:
    """Yield the facts of each kind's table."""
    for table in metadata.sorted_tables:
        facts = spec_of(table)
        if facts:
            yield facts


def existing(connection: Connection, table: str) -> set[str]:
    """Return the names of our parts that a table has in the database; an index that failed half-way does not count."""
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
            "OR name IN (:table || '_live', :table || '_search', :table || '_search_terms')"
        )
    return set(connection.scalars(query, {"table": table}))


def missing(connection: Connection, facts: TableSpec) -> list[Part]:
    """Return the parts that a table lacks."""
    there = existing(connection, facts.table)
    return [part for part in dialect_of(connection).parts(facts) if part.name not in there]


def create(connection: Connection, facts: TableSpec, say: Callable[[str], None]) -> None:
    """Make what a table lacks, inside the connection's transaction, and fill it. Writers wait meanwhile."""
    prepare(connection)
    lacking = missing(connection, facts)
    for number, part in enumerate(lacking, 1):
        say(f"{facts.table}: {part.name} ({number} of {len(lacking)})")
        _execute(connection, part.drop, part.create)
    if any(part.kind != "index" for part in lacking):
        say(f"{facts.table}: the index of searches and the counters")
        _execute(connection, *dialect_of(connection).fill(facts))


def create_indexes_concurrently(connection: Connection, facts: TableSpec, say: Callable[[str], None]) -> None:
    """Make the indexes that a PostgreSQL table lacks, while others write. The connection is in autocommit."""
    prepare(connection)
    lacking = [part for part in missing(connection, facts) if part.kind == "index"]
    for number, part in enumerate(lacking, 1):
        say(f"{facts.table}: {part.name} ({number} of {len(lacking)})")
        _execute(connection, part.drop, part.create_concurrently)


def drop(connection: Connection, facts: TableSpec, *, indexes: bool = True) -> None:
    """Remove what a table has besides its columns; without ``indexes``, those of sorts stay."""
    for part in reversed(list(dialect_of(connection).parts(facts))):
        if indexes or part.kind != "index" or part.name in of_searches(facts.table):
            _execute(connection, part.drop)


def tidy(engine: Engine, facts: TableSpec, changed: int, say: Callable[[str], None]) -> None:
    """Leave a table well known to its database after ``changed`` rows of it were. (SQLite's plans ask for no more.)"""
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            postgresql.tidy(connection, facts, changed, say)


def hold_writers(connection: Connection, facts: TableSpec) -> None:
    """Make the table's writers wait until the transaction ends. (On SQLite, BEGIN IMMEDIATE has done so.)"""
    if connection.dialect.name == "postgresql":
        _execute(connection, f"LOCK TABLE {facts.table} IN SHARE ROW EXCLUSIVE MODE")


def miscounted(connection: Connection, facts: TableSpec) -> Iterator[tuple[str, int, int]]:
    """Yield the counters that are wrong: name, what they say, what there is. In a transaction that is rolled back."""
    with _at_one_moment(connection) as one:
        kept = _counters(one, facts)
        with one.begin_nested() as undone:
            run(one, dialect_of(one).count_anew(facts))
            found = _counters(one, facts)
            undone.rollback()
    for name in sorted({**kept, **found}):
        if kept.get(name, 0) != found.get(name, 0):
            yield name, kept.get(name, 0), found.get(name, 0)


@contextmanager
def _at_one_moment(connection: Connection) -> Iterator[Connection]:
    """Yield a connection that sees what was committed at one moment, whoever writes meanwhile.

    On SQLite that is the connection itself, which keeps writers away. On PostgreSQL it is another one, and nobody moves
    changes into the counters until it is given back: the lock is taken before the moment, or it would be too late.
    """
    if connection.dialect.name != "postgresql":
        yield connection
        return
    with connection.engine.connect() as one:
        one.execute(text("SELECT pg_advisory_lock(hashtext('record_fold'))"))
        one.commit()
        try:
            yield one.execution_options(isolation_level="REPEATABLE READ")
        finally:
            one.rollback()
            one.execute(text("SELECT pg_advisory_unlock(hashtext('record_fold'))"))
            one.commit()


def _counters(connection: Connection, facts: TableSpec) -> dict[str, int]:
    """Return what the counters of a table say, by name."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT record_fold()"))
    counts = text("SELECT airport_code || '/' || choice, n FROM record_count WHERE kind = :kind")
    blocks = text("SELECT 'block ' || block, n FROM record_block WHERE kind = :kind")
    kind = {"kind": facts.table}
    return {name: int(n) for query in (counts, blocks) for name, n in connection.execute(query, kind)}


def search_is_whole(connection: Connection, facts: TableSpec) -> bool:
    """Whether the index of searches holds every live record's text, and no other."""
    if connection.dialect.name == "postgresql":
        return True  # an index of the database's own; what is missing or invalid is found by name
    try:
        with connection.begin_nested():
            name = f"{facts.table}_search"
            _execute(connection, f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")
    except DBAPIError:
        return False
    return True


def prepare(connection: Connection) -> None:
    """Make what all tables share; raise TrigramsMissing."""
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
    for statement in statements:
        connection.execute(text(statement))
