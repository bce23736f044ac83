"""Engines: one for each database, and variants of it for each sort of work. All variants share one pool."""

from functools import lru_cache
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, make_url

from groundtransport.db import commit_outcome, postgresql, sqlite
from groundtransport.db.timeouts import IDLE, LOCK, POOL, STATEMENT
from groundtransport.db.transaction_options import Memory, with_options
from groundtransport.settings import Settings, SettingsError

POOL_SIZE = 32  # connections; more than waitress has threads


def make_engine(settings: Settings, *, for_requests: bool = False) -> Engine:
    """Return an engine for ``settings.database_url`` without connecting.

    With ``for_requests``, PostgreSQL limits the time of each statement; commands have no limit. Raise SettingsError if
    the folder of a SQLite file cannot be created.
    """
    url = make_url(settings.database_url)
    engine = _sqlite_engine(url) if settings.is_sqlite else _postgresql_engine(url, for_requests=for_requests)
    commit_outcome.listen(engine)
    return engine


def _sqlite_engine(url: URL) -> Engine:
    file = Path(url.database or "").absolute()
    _make_folder(file.parent)
    sqlite.keep_private(file)
    engine = _create_engine(url, {"timeout": LOCK})
    sqlite.listen(engine, LOCK)
    return engine


def _postgresql_engine(url: URL, *, for_requests: bool) -> Engine:
    options = f"-c timezone=utc -c lock_timeout={LOCK}s"
    if for_requests:
        # IDLE: a client that stops answering keeps its locks until the server ends its transaction.
        options += f" -c statement_timeout={STATEMENT}s -c idle_in_transaction_session_timeout={IDLE}s"
        # JIT compilation takes longer than a request's statements; parallel workers slow down other requests.
        options += " -c jit=off -c max_parallel_workers_per_gather=0"
    tcp = postgresql.tcp_options(url.query)
    engine = _create_engine(url, {"connect_timeout": postgresql.CONNECT, "options": options, **tcp})
    postgresql.listen(engine)
    return engine


def _create_engine(url: URL, connect_args: dict[str, object]) -> Engine:
    return create_engine(
        url,
        connect_args=connect_args,
        pool_size=POOL_SIZE,
        pool_timeout=POOL,
        pool_use_lifo=True,  # the connection used last has its pages and prepared statements in memory
        hide_parameters=True,  # logged errors show the statement, but no personal data
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"sqlalchemy.url: the folder {folder} cannot be created: {error.strerror}") from error


# Deriving an engine takes longer than many statements. A test process has at most this many combinations.
@lru_cache(32)
def _variant(engine: Engine, **changes: object) -> Engine:
    return with_options(engine, **changes)


@lru_cache(32)
def _autocommit(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def write_engine(engine: Engine, wait: float | None = None, *, durable: bool = True) -> Engine:
    """Return the engine for transactions that write.

    SQLite takes the write lock at BEGIN, because a transaction that has already read cannot wait for it. ``wait`` is
    the longest wait for a lock, in seconds. If ``durable`` is false, a commit does not wait for the disk, so a power
    failure may lose it.
    """
    return _variant(engine, begin="IMMEDIATE", lock_timeout=wait and round(wait, 1), durable=durable)


def bulk_engine(engine: Engine) -> Engine:
    """Return the engine for writing many rows in one transaction: SQLite uses up to 128 MiB of page cache."""
    return with_options(engine, memory=Memory.BULK_WRITE)


def index_build_engine(engine: Engine) -> Engine:
    """Return the engine for creating indexes: SQLite uses up to 64 MiB of page cache."""
    return with_options(engine, memory=Memory.INDEX_BUILD)


def read_engine(engine: Engine) -> Engine:
    """Return the engine for work that only reads.

    On PostgreSQL it is in autocommit, which saves the round trips of BEGIN and COMMIT; a SELECT at READ COMMITTED sees
    the same rows either way. On SQLite it begins transactions, which cost no round trip.
    """
    return engine if engine.dialect.name == "sqlite" else _autocommit(engine)


def autocommit_engine(engine: Engine) -> Engine:
    """Return the engine for single SELECT statements, each of which is a transaction of its own."""
    return _variant(engine, begin=None) if engine.dialect.name == "sqlite" else read_engine(engine)
