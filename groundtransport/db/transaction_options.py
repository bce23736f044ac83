"""Options of the transactions of an engine, stored in SQLAlchemy's execution options."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from sqlalchemy import Connection, Engine

KEY = "groundtransport_transaction"


class Memory(StrEnum):
    """Amount of memory that SQLite uses for the work of a transaction; see ``sqlite.PRAGMAS``."""

    DEFAULT = "default"
    INDEX_BUILD = "index build"
    BULK_WRITE = "bulk write"


@dataclass(frozen=True, slots=True)
class TransactionOptions:
    """How a transaction begins, waits and commits.

    ``begin`` is SQLite's mode of BEGIN; None begins no transaction. ``lock_timeout`` is in seconds; None means
    ``settings.database_timeout``. If ``durable`` is false, the commit does not wait for the disk: a power failure may
    lose it. If ``is_retryable``, a request whose connection is lost may be tried again: it has changed nothing.
    """

    begin: Literal["DEFERRED", "IMMEDIATE"] | None = "DEFERRED"
    lock_timeout: float | None = None
    durable: bool = True
    memory: Memory = Memory.DEFAULT
    is_retryable: bool = False


DEFAULT = TransactionOptions()


def options_of(source: Engine | Connection) -> TransactionOptions:
    """Return the transaction options of an engine or a connection."""
    options: TransactionOptions = source.get_execution_options().get(KEY, DEFAULT)
    return options


def with_options(engine: Engine, **changes: object) -> Engine:
    """Return an engine of the same pool with some transaction options changed."""
    options = replace(options_of(engine), **changes)  # type: ignore[arg-type]  # dataclass fields by name
    return engine.execution_options(**{KEY: options})
