"""SQLite: pragmas, functions, and the database file."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import URL, Engine, ExceptionContext, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler

from groundtransport.db.sqlite_transactions import MEMORY_PRAGMAS, SQLiteTransactions
from groundtransport.db.transaction_options import Memory

# Result codes of a damaged file, or of a file of another format (https://www.sqlite.org/rescode.html).
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
WAL_MAX = 64 * 1024 * 1024  # bytes to which SQLite shortens the write-ahead log once a large transaction is in the file
_damaged: set[URL] = set()  # databases in which a statement met damage


def listen(engine: Engine, lock_timeout: float) -> None:
    """Prepare the connections of a new engine; a writer waits ``lock_timeout`` seconds unless its options differ."""
    event.listen(engine, "connect", prepare)
    event.listen(engine, "handle_error", _note_damage)
    engine.dialect.statement_compiler = HintingCompiler
    SQLiteTransactions(lock_timeout).listen(engine)


def keep_private(file: Path) -> None:
    """Make the database file and the files that SQLite puts beside it readable for their owner only.

    SQLite creates those files with the mode of the database file. An existing file is not opened, because closing it
    would release SQLite's locks in this process (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    with suppress(OSError):  # the file exists, or the first connection reports why it cannot be created
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        path = file.with_name(name)
        with suppress(OSError):  # another user owns the file
            if path.is_file():  # a wrong setting may name a folder, such as /dev
                path.chmod(0o600)


def is_sound(engine: Engine) -> bool:
    """Return True if no damage of the file is known: no statement reported any, and each table yields a row.

    It takes a few milliseconds on a connection of its own, which has no cached pages; SQLite compares the length of
    the file with its header. ``PRAGMA quick_check`` would read every page, which takes seconds.
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
        return not _is_damage(error)
    return True


def is_writable(engine: Engine) -> bool:
    """Return True if this process may change the file, and create SQLite's own files beside it."""
    file = Path(engine.url.database or "").absolute()
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _note_damage(context: ExceptionContext) -> None:
    if _is_damage(context.original_exception) and context.engine is not None:
        _damaged.add(context.engine.url)


def _is_damage(error: BaseException | None) -> bool:
    """Return True if an error means a damaged file. A wrong search index is none: ``reindex`` repairs it."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in DAMAGED and code != sqlite3.SQLITE_CORRUPT_VTAB


class HintingCompiler(SQLiteCompiler):
    """Compiler that writes the text of ``with_hint``; SQLAlchemy ignores hints for SQLite."""

    def get_from_hint_text(self, table: object, text: str | None) -> str | None:
        return text


def prepare(connection: sqlite3.Connection, record: object) -> None:
    """Set up a new connection: no implicit BEGIN, ``split_part`` as in PostgreSQL, and the pragmas."""
    # The driver's implicit BEGIN comes late, and with it savepoints survive a rollback.
    connection.isolation_level = None
    connection.create_function("split_part", 3, split_part, deterministic=True)
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"journal_size_limit={WAL_MAX}",
        "secure_delete=OFF",  # with ON, SQLite overwrites each deleted piece of an index with zeros
        *(f"{name}={value}" for name, value in MEMORY_PRAGMAS[Memory.DEFAULT].items()),
    ):
        connection.execute(f"PRAGMA {pragma}")


def split_part(text: str | None, separator: str, number: int) -> str | None:
    """Return part ``number``, from 1, of a text; "" beyond the last part. Equal to PostgreSQL's ``split_part``."""
    if text is None:
        return None
    parts = text.split(separator)
    return parts[number - 1] if number <= len(parts) else ""
