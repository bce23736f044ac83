"""Engines: one for each database, and variants of it for each sort of work. All variants share one pool."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, make_url

from groundtransport.db import commit_outcome, json_text, postgresql, sqlite
from groundtransport.db.timeouts import IDLE
from groundtransport.db.transaction_options import Memory, with_options
from groundtransport.settings import Settings, SettingsError

TRANSACTION_POOLING = "transaction_pooling"  # execution option: connections go through PgBouncer
TIMEOUT = "database_timeout"  # execution option: seconds of a statement of a request, or of its wait for a lock


def make_engine(settings: Settings, *, for_requests: bool = False) -> Engine:
    """Return an engine for ``settings.database_url`` without connecting.

    With ``for_requests``, PostgreSQL limits the time of each statement; commands have no limit. Raise SettingsError if
    the folder of a SQLite file cannot be created.
    """
    engine = _sqlite_engine(settings) if settings.is_sqlite else _postgresql_engine(settings, for_requests=for_requests)
    commit_outcome.listen(engine)
    return engine


def _sqlite_engine(settings: Settings) -> Engine:
    url = make_url(settings.database_url)
    file = Path(url.database or "").absolute()
    _make_folder(file.parent)
    sqlite.keep_private(file)
    engine = _create_engine(settings, {"timeout": settings.database_timeout})
    sqlite.listen(engine, settings.database_timeout)
    return engine


def _postgresql_engine(settings: Settings, *, for_requests: bool) -> Engine:
    url = make_url(settings.database_url)
    timeout = f"{settings.database_timeout}s"
    limits = {"timezone": "utc", "lock_timeout": timeout}
    if for_requests:
        # IDLE: a client that stops answering keeps its locks until the server ends its transaction.
        limits |= {"statement_timeout": timeout, "idle_in_transaction_session_timeout": f"{IDLE}s"}
        # JIT compilation takes longer than a request's statements; parallel workers slow down other requests.
        limits |= {"jit": "off", "max_parallel_workers_per_gather": "0"}
    connect_args: dict[str, object] = {"connect_timeout": postgresql.CONNECT, **postgresql.tcp_options(url.query)}
    if "application_name" not in url.query:
        connect_args["application_name"] = application_name(settings.worker)
    if settings.pgbouncer:  # a server connection is this client's for one transaction only
        engine = _create_engine(settings, {**connect_args, "prepare_threshold": None})
        postgresql.listen(engine, limits)
    else:
        options = " ".join(f"-c {name}={value}" for name, value in limits.items())
        engine = _create_engine(settings, {**connect_args, "options": options})
        postgresql.listen(engine)
    return engine


def application_name(worker: str) -> str:
    """Return the name by which PostgreSQL shows a connection of this process, in ``pg_stat_activity``."""
    return f"groundtransport {worker or f'{socket.gethostname()[:30]}:{os.getpid()}'}"


def _create_engine(settings: Settings, connect_args: dict[str, object]) -> Engine:
    return create_engine(
        settings.database_url,
        connect_args=connect_args,
        execution_options={TRANSACTION_POOLING: settings.pgbouncer, TIMEOUT: settings.database_timeout},
        pool_size=settings.pool_size,
        pool_timeout=settings.pool_timeout,
        pool_use_lifo=True,  # the connection used last has its pages and prepared statements in memory
        json_serializer=json_text.dumps,
        json_deserializer=json_text.loads,
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
    return with_options(engine, is_retryable=True).execution_options(isolation_level="AUTOCOMMIT")


def is_pooled(engine: Engine) -> bool:
    """Return True if PgBouncer gives the engine a server connection for one transaction at a time."""
    return bool(engine.get_execution_options().get(TRANSACTION_POOLING))


def database_timeout(engine: Engine) -> int:
    """Return the seconds that a statement of a request, or its wait for a lock, may take."""
    return int(engine.get_execution_options()[TIMEOUT])


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
    the same rows either way. On SQLite it begins transactions, which cost no round trip; behind PgBouncer, because the
    limits of statements are set in a transaction.
    """
    if engine.dialect.name == "sqlite":
        return engine
    return _variant(engine, is_retryable=True) if is_pooled(engine) else _autocommit(engine)


def autocommit_engine(engine: Engine) -> Engine:
    """Return the engine for single SELECT statements, each of which is a transaction of its own."""
    return _variant(engine, begin=None) if engine.dialect.name == "sqlite" else read_engine(engine)


@contextmanager
def without_time_limit(engine: Engine) -> Iterator[Connection]:
    """Yield a connection to PostgreSQL, in autocommit, whose statements may take any time: to vacuum a large table.

    Behind PgBouncer limits are set in transactions only, so there is none to lift.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if is_pooled(engine):
            yield connection
            return
        connection.exec_driver_sql("SET statement_timeout = 0")
        try:
            yield connection
        finally:
            connection.exec_driver_sql("RESET statement_timeout")
