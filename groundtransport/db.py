"""The declarative base, the engine of either database, and ``request.dbsession``. No table is defined here."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyramid_tm
import zope.sqlalchemy
from pyramid.tweens import INGRESS
from sqlalchemy import (
    BigInteger,
    Connection,
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
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker
from sqlalchemy.sql.functions import GenericFunction
from transaction import TransactionManager
from transaction.interfaces import NoTransaction

from groundtransport import sqlite
from groundtransport.settings import Settings, SettingsError

# Seconds. BUDGET is what a request may wait for its database in all; the others are limits of single waits.
BUDGET = 4.5
CONNECT = 2
LOCK = 4
STATEMENT = 4
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

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value if value is None else value.replace(tzinfo=UTC)


class sort_text(GenericFunction[str]):  # noqa: N801  # called like a function of SQL
    """A text as lists sort it: without case, alike on both databases whatever the server's locale."""

    inherit_cache = True


@compiles(sort_text)
def _sort_text(element: Any, compiler: Any, **options: Any) -> str:
    return f"lower({compiler.process(element.clauses, **options)})"


@compiles(sort_text, "postgresql")
def _sort_text_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    return f'lower({compiler.process(element.clauses, **options)} COLLATE "C")'


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
            settings.database_url, connect_args={"timeout": LOCK}, pool_size=32, pool_timeout=CONNECT
        )
        sqlite.listen(engine, LOCK)
        return engine
    limit = f" -c statement_timeout={STATEMENT}s" if for_requests else ""
    engine = create_engine(
        settings.database_url,
        connect_args={"connect_timeout": CONNECT, "options": f"-c timezone=utc -c lock_timeout={LOCK}s{limit}"},
        pool_timeout=CONNECT,
        pool_pre_ping=True,  # a server that was restarted is noticed before the request, not by it
    )
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"sqlalchemy.url: the folder {folder} cannot be made: {error.strerror}") from error


def writing(engine: Engine, wait: float | None = None) -> Engine:
    """The same engine and pool for work that will write; ``wait`` limits, in seconds, how long it waits for a lock.

    SQLite must take its lock at BEGIN: a transaction that has read cannot wait for it any more.
    """
    return engine.execution_options(begin="IMMEDIATE", wait=wait)


def _begin_postgresql(connection: Connection) -> None:
    wait = connection.get_execution_options().get("wait")
    if wait is not None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(wait * 1000))}")  # 0 would mean for ever


def limit_waiting(session: Session) -> None:
    """Let the next statement of a request wait no longer for a lock than what is left of the request's time."""
    deadline = session.info.get("deadline")
    if deadline is not None and session.get_bind().dialect.name == "postgresql":
        left = max(0.05, deadline - time.monotonic())
        session.execute(text(f"SET LOCAL lock_timeout = {int(left * 1000)}"))


def make_session(engine: Engine, tm: TransactionManager, *, write: bool) -> Session:
    """Return a session that lives in ``tm``'s transaction: of a request, of a command, or of a test."""
    session = sessionmaker(bind=writing(engine) if write else engine)()
    # "changed" at once where it is meant to write: bulk statements go unnoticed otherwise, and are rolled back.
    state = zope.sqlalchemy.datamanager.STATUS_CHANGED if write else zope.sqlalchemy.datamanager.STATUS_ACTIVE
    zope.sqlalchemy.register(session, initial_state=state, transaction_manager=tm)
    session.info["tm"] = tm  # for who must do something at the commit
    return session


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """Yield the session of one writing transaction, for commands: committed at the end, undone by an exception."""
    tm = TransactionManager(explicit=True)
    tm.begin()
    session = make_session(engine, tm, write=True)
    try:
        yield session
        tm.commit()
    except BaseException:
        tm.abort()
        raise
    finally:
        session.close()


def _dbsession(request: Any) -> Session:
    write = request.method not in SAFE_METHODS
    session = make_session(request.registry["engine"], request.tm, write=write)
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
    """Just over the transaction's: pyramid_tm leaves one whose commit failed behind, with its locks."""

    def abort_what_failed(request: Any) -> Any:
        response = handler(request)
        with suppress(NoTransaction):
            request.tm.abort()
        return response

    return abort_what_failed


def includeme(config: Any) -> None:
    config.registry["engine"] = make_engine(config.registry["settings"], for_requests=True)
    config.add_settings(
        {
            "tm.manager_hook": pyramid_tm.explicit_manager,
            # Without the veto a returned 4xx would commit what was flushed before it.
            "tm.commit_veto": veto,
            # It would ask who is signed in, with a query, for every static file.
            "tm.annotate_user": False,
        }
    )
    config.include("pyramid_tm")
    config.add_tween("groundtransport.db.tween", under=INGRESS, over="pyramid_tm.tm_tween_factory")
    # A serialization failure or a deadlock is tried again before anybody sees it.
    config.add_settings({"retry.attempts": 3})
    config.include("pyramid_retry")
    config.add_request_method(_dbsession, "dbsession", reify=True)
