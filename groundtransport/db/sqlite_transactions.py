"""Beginning transactions on SQLite, with a fair queue of writers."""

import sqlite3
import time
from contextlib import suppress

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from groundtransport.db.fifo_lock import FIFOLock
from groundtransport.db.transaction_options import Memory, TransactionOptions, options_of

MIN_BUSY_TIMEOUT = 0.05  # seconds

# cache_size: page cache of a connection in KiB, as a negative number; the operating system caches the file besides.
# wal_autocheckpoint: pages in the write-ahead log before SQLite copies them into the file. cache_spill: whether changed
# pages may be written before the commit when the cache is full. A chunk of imported rows changes up to 40,000 pages
# repeatedly; building an index changes as many pages as the index has.
MEMORY_PRAGMAS: dict[Memory, dict[str, int | str]] = {
    Memory.DEFAULT: {"cache_size": -512, "wal_autocheckpoint": 1_000, "cache_spill": "ON"},
    Memory.INDEX_BUILD: {"cache_size": -65_536, "wal_autocheckpoint": 8_000, "cache_spill": "ON"},
    Memory.BULK_WRITE: {"cache_size": -131_072, "wal_autocheckpoint": 32_000, "cache_spill": "OFF"},
}
# Keys of Connection.info: the settings of the connection, and whether it holds the write lock.
MEMORY, DURABLE, HOLDS_LOCK = "memory", "durable", "holds_lock"


class SQLiteTransactions:
    """Event listeners that begin an engine's transactions. Writers of this process wait in the order of arrival."""

    def __init__(self, lock_timeout: float) -> None:
        self.write_lock = FIFOLock()
        self.lock_timeout = lock_timeout  # seconds; default of TransactionOptions.lock_timeout

    def listen(self, engine: Engine) -> None:
        event.listen(engine, "begin", self.begin)
        # SQLAlchemy calls these before it commits; until then SQLite's own lock holds off the next writer.
        event.listen(engine, "commit", lambda connection: self.release(connection.info))
        event.listen(engine, "rollback", lambda connection: self.release(connection.info))
        event.listen(engine, "checkin", self.end)
        event.listen(engine, "invalidate", self.end)

    def begin(self, connection: Connection) -> None:
        """Begin a transaction as the connection's options demand; raise OperationalError if the lock stays taken."""
        options = options_of(connection)
        _set_memory(connection, options.memory)
        if options.begin is None:
            return
        if options.begin == "IMMEDIATE":
            self.acquire(connection, options)
        run(connection, f"BEGIN {options.begin}")
        # Makes SQLite read the schema now. Otherwise it may notice a change by another connection in the middle of a
        # statement on a search index, and fail with "no such table".
        run(connection, "SELECT 1 FROM sqlite_master LIMIT 0")

    def acquire(self, connection: Connection, options: TransactionOptions) -> None:
        """Take the write lock of this process, and leave the rest of the time for writers of other processes.

        Raise OperationalError if another thread holds it for ``lock_timeout`` seconds.
        """
        timeout = self.lock_timeout if options.lock_timeout is None else options.lock_timeout
        started = time.monotonic()
        if not self.write_lock.acquire(timeout):
            raise OperationalError("BEGIN", {}, sqlite3.OperationalError("database is locked"))
        connection.info[HOLDS_LOCK] = True
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        _set_durable(driver, connection.info, durable=options.durable)
        seconds_left = max(MIN_BUSY_TIMEOUT, timeout - (time.monotonic() - started))
        driver.execute(f"PRAGMA busy_timeout = {int(seconds_left * 1000)}")

    def end(self, connection: sqlite3.Connection | None, record: ConnectionPoolEntry, error: object = None) -> None:
        """End an open transaction when a connection is returned to the pool or discarded, and release the lock."""
        with suppress(sqlite3.Error):  # the connection was closed, which ended the transaction
            if connection is not None and connection.in_transaction:
                connection.rollback()  # SQLAlchemy does not roll back after a failed COMMIT
        if record is not None:
            self.release(record.info)

    def release(self, info: dict[object, object]) -> None:
        """Release the write lock if the connection with this ``info`` holds it."""
        if info.pop(HOLDS_LOCK, False):
            self.write_lock.release()


def run(connection: Connection, statement: str) -> None:
    """Execute a statement with the driver, in a tenth of SQLAlchemy's time; raise the error that SQLAlchemy would."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        driver.execute(statement).close()
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=connection.dialect) from error


def _set_durable(driver: sqlite3.Connection, info: dict[object, object], *, durable: bool) -> None:
    """Set whether a commit waits for the disk. In WAL mode the database stays consistent either way."""
    if info.get(DURABLE, True) != durable:
        driver.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        info[DURABLE] = durable


def _set_memory(connection: Connection, memory: Memory) -> None:
    """Set the connection's memory pragmas if they differ."""
    if connection.info.get(MEMORY, Memory.DEFAULT) != memory:
        for name, value in MEMORY_PRAGMAS[memory].items():
            connection.exec_driver_sql(f"PRAGMA {name} = {value}")
        connection.info[MEMORY] = memory
