"""Run exports: in a snapshot of their own, a few at a time, and with an event in the security log at the end."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Engine

from groundtransport.db.snapshot import snapshot
from groundtransport.security_log.events import Entry
from groundtransport.security_log.log import SecurityLog, write
from groundtransport.transfer.export.rows import Rows

MOST = 2  # exports of one process at a time: each occupies a thread, of which there are eight by default
SECONDS = 30 * 60.0  # of an export of a request
FILTER_MAX = 2_000  # characters of the filter in the security log

Read = Callable[[Connection], Iterator[Rows]]
Write = Callable[[Iterable[Rows]], Iterator[bytes]]
Parts = Generator[bytes, None, None]


class Busy(Exception):
    """As many exports as the process allows are running."""


class TooSlow(Exception):
    """The client did not take the file within the time limit."""


class Slots:
    """The exports that a process may run at a time."""

    def __init__(self, number: int = MOST) -> None:
        self._semaphore = threading.BoundedSemaphore(number)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Occupy a slot; raise Busy if none is free."""
        if not self._semaphore.acquire(blocking=False):
            raise Busy
        try:
            yield
        finally:
            self._semaphore.release()


@dataclass
class Progress:
    """The number of rows that were read, and whether the whole file was handed out."""

    rows: int = 0
    is_complete: bool = False


@dataclass(frozen=True)
class Export:
    """What to read and how to write it. ``entry`` is the event, without its number of rows; ``filter`` goes into it."""

    read: Read
    write: Write
    entry: Entry
    filter: str = ""

    def event(self, progress: Progress) -> Entry:
        """Return the event of this export."""
        details = {"filter": self.filter[:FILTER_MAX]} if self.filter else {}
        details["rows"] = str(progress.rows)
        if not progress.is_complete:
            details["end"] = "not complete"
        return replace(self.entry, details={**self.entry.details, **details})


def run_export(export: Export, engine: Engine, security_log: SecurityLog, seconds: float = SECONDS) -> Parts:
    """Yield the parts of a file; the first is empty and comes as soon as the first rows are read.

    At the end, or when the generator is closed, write the event. Errors before the first part leave no event. Raise
    TooSlow after ``seconds``.
    """
    progress, until = Progress(), time.monotonic() + seconds
    with snapshot(engine, seconds) as connection:
        chunks = _counted(export.read(connection), progress)
        first = next(chunks, None)
        try:
            yield b""
            for part in export.write(chain([first] if first else [], chunks)):
                if time.monotonic() > until:
                    raise TooSlow
                yield part
            progress.is_complete = True
        finally:
            connection.close()
            write(security_log, [export.event(progress)])


def _counted(chunks: Iterator[Rows], progress: Progress) -> Iterator[Rows]:
    for rows in chunks:
        progress.rows += len(rows)
        yield rows


class Body:
    """The body of a response: the parts of an export that has begun, until the client leaves.

    The server calls ``close`` in every case (PEP 3333), which ends the query.
    """

    def __init__(self, parts: Parts, is_client_gone: Callable[[], bool]) -> None:
        self.parts, self.is_client_gone = parts, is_client_gone

    def __iter__(self) -> "Body":
        return self

    def __next__(self) -> bytes:
        if self.is_client_gone():
            self.close()
        return next(self.parts)

    def close(self) -> None:
        """End the export: stop the query, write the event, free the slot."""
        self.parts.close()


def start(slots: Slots, parts: Parts, environ: dict[str, Any]) -> Body:
    """Return the body of an export whose first rows are read. Raise Busy if no slot is free."""

    def in_slot() -> Parts:
        with slots.take():
            yield from parts

    running = in_slot()
    next(running)
    return Body(running, environ.get("waitress.client_disconnected", lambda: False))
