"""What SQLite needs besides: pragmas, a function of PostgreSQL's, and writers that wait in order."""

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, ExceptionContext, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import DBAPIError, OperationalError

from groundtransport.db.fifo_lock import FIFOLock

# By what is to be done: KiB of pages that a connection keeps (the system's own cache holds the rest, once for all of
# them), pages of the log after which they are copied into the file, and whether pages that were changed may be written
# before the commit, where they are more than it keeps. A chunk of rows touches the same pages again and again, and some
# 40,000 of them at most; what makes an index changes as many as the index has.
USUAL, INDEXES, ROWS = "usual", "indexes", "rows"
ROOM = {
    USUAL: {"cache_size": -512, "wal_autocheckpoint": 1_000, "cache_spill": "ON"},
    INDEXES: {"cache_size": -65_536, "wal_autocheckpoint": 8_000, "cache_spill": "ON"},
    ROWS: {"cache_size": -131_072, "wal_autocheckpoint": 32_000, "cache_spill": "OFF"},
}


# Result codes (https://www.sqlite.org/rescode.html) of a file that is damaged, or none of SQLite's.
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def keep_private(file: Path) -> None:
    """Make the file and what SQLite puts beside it readable for its owner alone.

    SQLite gives the files beside it the file's own mode. A file that is there is not opened: closing it again would
    drop the locks that SQLite holds in this process (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    with suppress(OSError):  # it is there; or the first connection tells why it cannot be
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        path = file.with_name(name)
        with suppress(OSError):  # not ours
            if path.is_file():  # a wrong setting may name a folder, as of all devices
                path.chmod(0o600)


def is_sound(engine: Engine) -> bool:
    """Return whether nothing is known of a damage of the file: a statement met none, and each table gives a row.

    A connection of its own reads anew what others remember, and SQLite compares the file's length with its header. It
    takes a few milliseconds; looking at every page takes seconds (``PRAGMA quick_check``).
    """
    if engine.url in _damaged:
        return False
    file = Path(engine.url.database or "").absolute()
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in tables:
                connection.execute(f'SELECT * FROM "{name}" LIMIT 1').fetchone()  # noqa: S608  # nosec B608 # our own
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED
    return True


_damaged: set[URL] = set()


def _note_damage(context: ExceptionContext) -> None:
    if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF in DAMAGED and context.engine is not None:
        _damaged.add(context.engine.url)


def listen(engine: Engine, wait: float) -> None:
    """Make an engine's connections ready; a writer waits ``wait`` seconds for the lock unless told otherwise."""
    event.listen(engine, "connect", prepare)
    event.listen(engine, "handle_error", _note_damage)
    engine.dialect.statement_compiler = HintingCompiler
    SQLiteWriters(wait).listen(engine)


class HintingCompiler(SQLiteCompiler):
    """Writes what ``with_hint`` says: SQLAlchemy passes over hints for SQLite, without a word."""

    def get_from_hint_text(self, table: object, text: str | None) -> str | None:
        return text


def prepare(connection: sqlite3.Connection, record: object) -> None:
    connection.isolation_level = None  # sqlite3 would begin late, and savepoints would outlive a rollback
    connection.create_function("split_part", 3, split_part, deterministic=True)
    # secure_delete would write zeros over every piece of an index that is freed.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=OFF",
        *(f"{name}={value}" for name, value in ROOM[USUAL].items()),
    ):
        connection.execute(f"PRAGMA {pragma}")


def run(connection: Connection, statement: str) -> None:
    """Run a statement by the driver itself, which takes a tenth of the time; raise what SQLAlchemy would."""
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(statement).close()
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=connection.dialect) from error


def split_part(text: str | None, separator: str, number: int) -> str | None:
    """PostgreSQL's ``split_part``, for SQLite."""
    if text is None:
        return None
    parts = text.split(separator)
    return parts[number - 1] if number <= len(parts) else ""


class SQLiteWriters:
    """Begins SQLite's transactions. The writers of this process queue up in front of its one lock, in fair order."""

    def __init__(self, wait: float) -> None:
        self.turnstile = FIFOLock()
        self.wait = wait  # seconds, where the connection's options do not say

    def listen(self, engine: Engine) -> None:
        event.listen(engine, "begin", self.begin)
        # SQLAlchemy tells of these before it does them; SQLite's own lock bridges the moment.
        event.listen(engine, "commit", lambda connection: self.leave(connection.info))
        event.listen(engine, "rollback", lambda connection: self.leave(connection.info))
        event.listen(engine, "checkin", self.end)
        event.listen(engine, "invalidate", self.end)

    def begin(self, connection: Connection) -> None:
        options = connection.get_execution_options()
        self.spread(connection, options.get("room", USUAL))
        mode, wait = options.get("begin", "DEFERRED"), options.get("wait")
        if mode is None:
            return
        wait = self.wait if wait is None else wait
        began = time.monotonic()
        if mode == "IMMEDIATE":
            if not self.turnstile.enter(wait):
                raise OperationalError("BEGIN", {}, sqlite3.OperationalError("database is locked"))
            connection.info["turn"] = True
            driver: Any = connection.connection.driver_connection
            self.sync(driver, connection.info, durable=options.get("durable", True))
            left = max(0.05, wait - (time.monotonic() - began))  # for writers of other processes
            driver.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
        run(connection, f"BEGIN {mode}")
        # Looks whether tables were made or dropped by another connection: else SQLite may notice it in the middle of a
        # statement that opens a search index, and then does not find the table.
        run(connection, "SELECT 1 FROM sqlite_master LIMIT 0")

    def sync(self, driver: sqlite3.Connection, info: dict[Any, Any], *, durable: bool) -> None:
        """Let a commit wait for the disk, or not: WAL stays whole either way (SQLite's PRAGMA synchronous)."""
        if info.get("durable", True) != durable:
            driver.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            info["durable"] = durable

    def spread(self, connection: Connection, room: str) -> None:
        """Give a connection the room that its work needs, or take it back."""
        if connection.info.get("room", USUAL) != room:
            for name, value in ROOM[room].items():
                connection.exec_driver_sql(f"PRAGMA {name} = {value}")
            connection.info["room"] = room

    def end(self, connection: sqlite3.Connection | None, record: Any, error: object = None) -> None:
        """The connection goes back to the pool, or away: with no transaction open, and the next writer may come."""
        with suppress(sqlite3.Error):  # a connection that was closed under us has no transaction either
            if connection is not None and connection.in_transaction:
                connection.rollback()  # after a COMMIT that failed, SQLAlchemy does not
        if record is not None:
            self.leave(record.info)

    def leave(self, info: dict[Any, Any]) -> None:
        """Let the next writer through, once."""
        if info.pop("turn", False):
            self.turnstile.leave()
