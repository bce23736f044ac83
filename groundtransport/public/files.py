"""The compressed files of public records. Each worker makes its own, at most once a minute and only after a change."""

import gzip
import hashlib
import logging
import os
import tempfile
import threading
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.audit.models import AuditHead
from groundtransport.db import now
from groundtransport.db.snapshot import snapshot
from groundtransport.public.content import parts_of
from groundtransport.public.fields import public_names
from groundtransport.records.kind import Kind

log = logging.getLogger(__name__)

MAX_AGE = 60  # seconds after which a file is compared with the activity log
REMADE = 60 * 60  # seconds after which a file is made again without a change: positions of airports are not in the log
SECONDS = 10 * 60.0  # of making a file
TIMEOUT = 2.0  # seconds that a request waits for the first file, which another request makes
BLOCK = 64 * 1024
GZIP = 31  # zlib's ``wbits`` of the gzip format


class NotMadeYet(Exception):
    """Another request makes the first file, which takes longer than ``TIMEOUT``."""


class PublicFile:
    """A compressed file without a name; it is closed when nobody sends it any more.

    ``size`` and ``full_size`` are its bytes, compressed and not; ``entry`` is the last entry of the activity log that
    it holds, ``modified_at`` the time since which its content is the same.
    """

    def __init__(self, parts: Iterable[bytes], entry: int, before: "PublicFile | None") -> None:
        """Write the parts. If the content is that of ``before``, its modification time stays."""
        self.entry, self.made_at, self.full_size = entry, time.monotonic(), 0
        self._descriptor, name = tempfile.mkstemp(prefix="groundtransport-public-")
        weakref.finalize(self, os.close, self._descriptor)
        Path(name).unlink()
        digest, began = hashlib.sha256(), now().replace(microsecond=0)
        with os.fdopen(self._descriptor, "wb", closefd=False) as file, gzip.GzipFile("", "wb", 6, file, 0) as packed:
            for part in parts:
                digest.update(part)
                self.full_size += packed.write(part)
        self.size = os.fstat(self._descriptor).st_size
        self.etag = digest.hexdigest()[:32]
        self.modified_at: datetime = before.modified_at if before and before.etag == self.etag else began

    def packed(self) -> Iterator[bytes]:
        """Yield the file as it is, compressed with gzip."""
        offset = 0
        while block := os.pread(self._descriptor, BLOCK, offset):
            offset += len(block)
            yield block

    def unpacked(self) -> Iterator[bytes]:
        """Yield the content, in blocks of at most ``BLOCK`` bytes."""
        stream = zlib.decompressobj(GZIP)
        for block in self.packed():
            yield stream.decompress(block, BLOCK)
            while stream.unconsumed_tail:
                yield stream.decompress(stream.unconsumed_tail, BLOCK)


@dataclass
class Slot:
    """The newest file of a kind in a format, and when it was last compared with the activity log."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    file: PublicFile | None = None
    checked_at: float = 0.0

    @property
    def fresh_file(self) -> PublicFile | None:
        """The file, None if there is none or it must be compared with the activity log."""
        return self.file if time.monotonic() - self.checked_at < MAX_AGE else None


class PublicFiles:
    """The files of a worker, by kind and suffix. Thread-safe."""

    def __init__(self, engine: Engine, chosen: Sequence[str]) -> None:
        self._engine, self._chosen = engine, chosen
        self._slots: dict[tuple[str, str], Slot] = {}

    def get(self, kind: Kind, suffix: str) -> PublicFile:
        """Return the file of a kind; while another request makes a new one, the one before.

        Raise NotMadeYet, and SQLAlchemyError if there is neither a file nor a database.
        """
        slot = self._slots.setdefault((kind.name, suffix), Slot())
        if file := slot.fresh_file:
            return file
        if not slot.lock.acquire(timeout=0 if slot.file else TIMEOUT):
            if slot.file is None:
                raise NotMadeYet
            return slot.file
        try:
            return slot.fresh_file or self._renew(slot, kind, suffix)
        finally:
            slot.lock.release()

    def _renew(self, slot: Slot, kind: Kind, suffix: str) -> PublicFile:
        """Return the slot's file, made again if something changed; without a database, the one before."""
        try:
            with snapshot(self._engine, SECONDS) as connection:
                slot.file = self._current(connection, slot.file, kind, suffix)
        except SQLAlchemyError:
            if slot.file is None:
                raise
            log.warning("the public file of %s could not be made again", kind.name, exc_info=True)
        slot.checked_at = time.monotonic()
        return slot.file

    def _current(self, connection: Connection, file: PublicFile | None, kind: Kind, suffix: str) -> PublicFile:
        entry = connection.scalar(select(AuditHead.number).where(AuditHead.id == 1)) or 0
        if file and file.entry == entry and time.monotonic() - file.made_at < REMADE:
            return file
        names = public_names(kind, self._chosen)
        return PublicFile(parts_of(connection, kind, names, suffix), entry, file)
