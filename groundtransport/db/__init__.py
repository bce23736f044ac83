"""The declarative base, the engine of either database, and ``request.dbsession``. No table is defined here."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyramid_tm
from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    Engine,
    Integer,
    MetaData,
    TypeDecorator,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Session
from transaction import TransactionManager
from transaction.interfaces import NoTransaction
from zope.sqlalchemy import datamanager

from groundtransport.db import commit_outcome, postgresql, sqlite
from groundtransport.settings import Settings, SettingsError

# Seconds. BUDGET is what a request may wait for its database in all; the others are limits of single waits.
BUDGET = 4.5
POOL = 2
LOCK = 4
STATEMENT = 4
IDLE = 30
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Base(DeclarativeBase):
    # Every constraint has a name, so that a migration can drop it again.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


# SQLite numbers rows by itself only in a column of the type INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")


class UTCDateTime(TypeDecorator[datetime]):
    """A moment: aware and in UTC on the Python side, without zone in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        # Each row of a list has two: here, one is one call, not the three of process_result_value.
        if dialect.name == "sqlite":  # it keeps a text
            return lambda text: datetime.fromisoformat(f"{text}+00:00") if text else None
        return lambda moment: moment.replace(tzinfo=UTC) if moment else None


def now() -> datetime:
    """The moment, in UTC, to the microsecond (what both databases keep)."""
    return datetime.now(UTC)


def make_engine(settings: Settings, *, for_requests: bool = False) -> Engine:
    """Return the engine of ``settings.database_url``; nothing connects yet.

    ``for_requests`` limits the time of a statement, too; commands may take theirs.
    """
    if settings.is_sqlite:
        _make_folder(Path(make_url(settings.database_url).database or "").absolute().parent)
        engine = create_engine(
            settings.database_url,
            connect_args={"timeout": LOCK},
            pool_size=32,
            pool_timeout=POOL,
            pool_use_lifo=True,  # the one that was used last has its pages and its statements ready
            hide_parameters=True,
        )
        sqlite.listen(engine, LOCK)
        commit_outcome.listen(engine)
        return engine
    # Compiling a plan takes longer than any statement of a request, and helpers take the time of other requests.
    plain = "-c jit=off -c max_parallel_workers_per_gather=0"
    # A client that fell silent holds its locks until the server gives it up.
    limits = f"-c statement_timeout={STATEMENT}s -c idle_in_transaction_session_timeout={IDLE}s"
    options = f"-c timezone=utc -c lock_timeout={LOCK}s{f' {limits} {plain}' if for_requests else ''}"
    tcp = postgresql.tcp_options(make_url(settings.database_url).query)
    engine = create_engine(
        settings.database_url,
        connect_args={"connect_timeout": postgresql.CONNECT, "options": options, **tcp},
        pool_size=32,  # as for SQLite: more than the threads of a worker
        pool_timeout=POOL,
        pool_use_lifo=True,
        hide_parameters=True,  # an error that is logged shows its statement, and nobody's data
    )
    postgresql.listen(engine)
    commit_outcome.listen(engine)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"sqlalchemy.url: the folder {folder} cannot be made: {error.strerror}") from error


@lru_cache(32)  # as many as processes of tests have; making one takes longer than many a statement
def _same(engine: Engine, **options: Any) -> Engine:
    return engine.execution_options(**options)


def write_engine(engine: Engine, wait: float | None = None, *, durable: bool = True) -> Engine:
    """The same engine and pool for work that will write; ``wait`` limits, in seconds, how long it waits for a lock.

    SQLite must take its lock at BEGIN: a transaction that has read cannot wait for it any more. What is not ``durable``
    does not wait for the disk: a power cut may lose it.
    """
    return _same(engine, begin="IMMEDIATE", wait=wait and round(wait, 1), durable=durable)


def bulk_engine(engine: Engine) -> Engine:
    """The same engine and pool for work that writes many rows at a time: SQLite then takes more memory."""
    return engine.execution_options(room=sqlite.ROWS)


def index_build_engine(engine: Engine) -> Engine:
    """The same engine and pool for work that makes indexes: SQLite then takes some more memory, too."""
    return engine.execution_options(room=sqlite.INDEXES)


def read_engine(engine: Engine) -> Engine:
    """The same engine and pool for work that only reads.

    PostgreSQL then needs no statement to begin and to end it: every SELECT sees what is committed, as it would inside
    a transaction. SQLite keeps its transaction, which costs no round trip.
    """
    return engine if engine.dialect.name == "sqlite" else _same(engine, isolation_level="AUTOCOMMIT")


def autocommit_engine(engine: Engine) -> Engine:
    """The same engine and pool for a single SELECT: it is a transaction by itself, so none is begun and ended."""
    return _same(engine, begin=None) if engine.dialect.name == "sqlite" else read_engine(engine)


_LOCK_TIMEOUT = text("SELECT set_config('lock_timeout', :wait, true)")  # one text: it is prepared once


def limit_lock_wait(session: Session) -> None:
    """Let the next statement of a request wait no longer for a lock than what is left of the request's time.

    As long as that is more than a connection's own limit, LOCK, there is nothing to say.
    """
    left = session.info.get("deadline", math.inf) - time.monotonic()
    if left < LOCK and session.get_bind().dialect.name == "postgresql":
        session.execute(_LOCK_TIMEOUT, {"wait": str(int(max(0.05, left) * 1000))})


class JoinedSession(Session):
    """A session that lives in the transaction of the manager ``info["tm"]``, which alone commits it."""


# What zope.sqlalchemy.register does for one session, done once for all: each listener costs every request.
@event.listens_for(JoinedSession, "after_begin")
@event.listens_for(JoinedSession, "after_attach")
def _join(session: Session, *_: object) -> None:
    kept = transaction_data(session)
    if "joined" not in kept:
        # "changed" at once: bulk statements go unnoticed otherwise, and are rolled back.
        kept["joined"] = commit_outcome.DataManager(session, kept)


@event.listens_for(JoinedSession, "before_commit")
def _leave_it_to_the_manager(session: Session) -> None:
    is_due = session.in_nested_transaction() or session.info["tm"].get().status == datamanager.ZopeStatus.COMMITTING
    assert is_due, "commit by the transaction manager"


def make_session(engine: Engine, tm: TransactionManager) -> Session:
    """Return a session that writes in ``tm``'s transaction: of a request, of a command, or of a test."""
    return JoinedSession(write_engine(engine), info={"tm": tm})  # for who must do something at the commit, too


def transaction_data(session: Session) -> dict[str, Any]:
    """Return the place for what belongs to a session's transaction, and is gone with it."""
    transaction = session.info["tm"].get()
    try:
        kept: dict[str, Any] = transaction.data(session)
    except KeyError:
        kept = {}
        transaction.set_data(session, kept)
    return kept


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """Yield the session of one writing transaction, for commands: committed at the end, undone by an exception."""
    tm = TransactionManager(explicit=True)
    tm.begin()
    session = make_session(engine, tm)
    try:
        yield session
        tm.commit()
    except BaseException:
        tm.abort()
        raise
    finally:
        session.close()


def is_write(request: Any) -> bool:
    """Whether a request may write: only then it has a transaction that is committed."""
    return request.method not in SAFE_METHODS


def _dbsession(request: Any) -> Session:
    engine = request.registry["engine"]
    session = make_session(engine, request.tm) if is_write(request) else Session(read_engine(engine))
    session.info["deadline"] = request.began + BUDGET
    request.add_finished_callback(lambda _: session.close())
    return session


def veto(request: Any, response: Any) -> bool:
    """Whether the transaction must not be committed: for every 4xx and 5xx.

    pyramid_tm asks the veto before it looks whether the failure can be tried again, and then never looks: do it here.
    """
    if getattr(request, "exc_info", None) is not None:
        pyramid_tm.maybe_tag_retryable(request, request.exc_info)
    return bool(pyramid_tm.default_commit_veto(request, response))


def tween(handler: Any, registry: Any) -> Any:
    """Just over the transaction's: pyramid_tm leaves one whose commit failed behind, with its locks, and never retries.

    The entry of the log is written then: who loses to another transaction there may try again, as before.
    """

    def abort_what_failed(request: Any) -> Any:
        response = handler(request)
        if is_write(request):
            with suppress(NoTransaction):
                if getattr(request, "exc_info", None) is not None:
                    pyramid_tm.maybe_tag_retryable(request, request.exc_info)
                request.tm.abort()
        return response

    return abort_what_failed


def includeme(config: Any) -> None:
    config.registry["engine"] = make_engine(config.registry["settings"], for_requests=True)
    config.add_settings(
        {
            "tm.manager_hook": pyramid_tm.explicit_manager,
            "tm.activate_hook": is_write,
            # Without the veto a returned 4xx would commit what was flushed before it.
            "tm.commit_veto": veto,
            # It would ask who is signed in, with a query, for every static file.
            "tm.annotate_user": False,
        }
    )
    config.include("pyramid_tm")
    # A serialization failure or a deadlock is tried again before anybody sees it.
    config.add_settings({"retry.attempts": 3})
    config.include("pyramid_retry")
    config.add_request_method(_dbsession, "dbsession", reify=True)
