"""Verify the activity log: the chain, the marks and the checkpoints."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Text, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from groundtransport.audit.chain import COLUMNS, text_of
from groundtransport.audit.checkpoints import Checkpoint
from groundtransport.audit.models import ARCHIVE, ROTATE, AdminActivity, AuditHead, AuditMark
from groundtransport.events import Values
from groundtransport.signing import GENESIS, Key, Tampered, check_signature, extend_digest

BATCH = 5_000  # entries per query


@dataclass(frozen=True)
class Verified:
    """The result of a verification: the numbers of entries and checkpoints, and the number of the last entry."""

    entries: int
    head: int
    checkpoints: int = 0


def verify(dbsession: Session, keys: Mapping[str, Key], checkpoints: Iterable[Checkpoint] = ()) -> Verified:
    """Verify the whole chain; raise Tampered at the first entry, mark or checkpoint that does not match."""
    marks = read_marks(dbsession, keys)
    macs = read_checkpoints(checkpoints, keys, marks.vouched)
    checkpoint_count = len(macs)
    first, previous, digest = marks.start
    marks.check(first, previous, digest)
    number = first
    for entry in entries(dbsession, after=first):
        number += 1
        if entry["id"] != number:
            raise Tampered(f"entry {number} is missing")
        text = text_of(entry, previous)
        check_signature("entry", entry, text, keys, marks.vouched)
        digest, previous = extend_digest(digest, text), entry["mac"]
        marks.check(number, previous, digest)
        if number in macs and macs.pop(number) != previous:
            raise Tampered(f"entry {number} is not the one that a checkpoint names")
    check_end(dbsession, number, previous, max([marks.last, *macs]))
    return Verified(number - first, number, checkpoint_count)


def check_end(dbsession: Session, number: int, mac: str, least: int) -> None:
    """Raise Tampered unless the last entry, ``number``, is the one in the chain head, and at least ``least``.

    ``least`` is the highest number in a mark or a checkpoint.
    """
    if least > number:
        raise Tampered(f"entry {number + 1} is missing: a mark or a checkpoint names entry {least}")
    head = dbsession.get(AuditHead, 1, populate_existing=True)
    if head is None or head.number > number:
        raise Tampered(f"entry {number + 1} is missing: the head names {head.number if head else 'nothing'}")
    if (head.number, head.mac) != (number, mac):
        raise Tampered(f"the head was changed: it names entry {head.number}, and the log ends with entry {number}")


def entries(dbsession: Session, after: int = 0) -> Iterator[Values]:
    """Yield the entries after a number, in order, with ``changes`` as the signed text; read BATCH at a time.

    Raise Tampered at the first entry that cannot be read.
    """
    size = BATCH
    while True:
        try:
            rows = _page(dbsession, after, size)
        except (ValueError, DBAPIError) as error:
            if size == 1:
                raise Tampered(f"entry {after + 1} cannot be read") from error
            size = 1  # read them one by one, to find the unreadable entry
            continue
        if not rows:
            return
        yield from rows
        after = rows[-1]["id"]


def _page(dbsession: Session, after: int, size: int) -> list[Values]:
    names = (*COLUMNS, "mac")
    columns = [
        type_coerce(AdminActivity.changes, Text).label(name) if name == "changes" else getattr(AdminActivity, name)
        for name in names
    ]
    page = select(*columns).where(AdminActivity.id > after).order_by(AdminActivity.id).limit(size)
    with dbsession.begin_nested():  # an error of the driver must not abort the transaction
        return [dict(zip(names, row, strict=True)) for row in dbsession.execute(page)]


@dataclass(frozen=True)
class Marks:
    """The verified marks: of rotations, by number, and of archives.

    The mark of a rotation vouches for all entries and marks up to its number, whose keys may no longer be known.
    """

    rotations: Mapping[int, AuditMark]
    archives: tuple[AuditMark, ...]

    @property
    def vouched(self) -> int:
        """The number of the last entry that a rotation vouches for."""
        return max(self.rotations, default=0)

    @property
    def last(self) -> int:
        """The highest number in a mark, which the log must reach."""
        return max([self.vouched, *(mark.number for mark in self.archives)])

    @property
    def start(self) -> tuple[int, str, str]:
        """Number, signature and digest of the last archived entry, after which the log begins."""
        if not self.archives:
            return 0, GENESIS, ""
        newest = max(self.archives, key=lambda mark: mark.number)
        return newest.number, newest.mac, newest.digest

    def check(self, number: int, mac: str, digest: str) -> None:
        """Raise Tampered if a rotation's mark for this number has another signature or digest."""
        mark = self.rotations.get(number)
        if mark is not None and (mark.mac, mark.digest) != (mac, digest):
            raise Tampered(f"an entry up to {number} was changed: the mark of the key rotation does not match")


def read_marks(dbsession: Session, keys: Mapping[str, Key], *, strict: bool = True) -> Marks:
    """Return the marks. A mark must be signed with one of ``keys``, or a later rotation must vouch for it.

    Raise Tampered for other marks if ``strict``.
    """
    all_marks = list(dbsession.scalars(select(AuditMark).order_by(AuditMark.id)))
    signed = [mark for mark in all_marks if _is_signed(mark, keys)]
    rotations = {mark.number: mark for mark in signed if mark.reason == ROTATE}
    vouched = max(rotations, default=0)
    for mark in all_marks if strict else ():
        if mark not in signed and (mark.key_id in keys or mark.number > vouched):
            raise Tampered(f"the mark at entry {mark.number} ({mark.reason}) is not signed with a known key")
    return Marks(rotations, tuple(mark for mark in all_marks if mark.reason == ARCHIVE))


def _is_signed(mark: AuditMark, keys: Mapping[str, Key]) -> bool:
    key = keys.get(mark.key_id)
    return key is not None and key.signed(mark.text, mark.signature)


def read_checkpoints(checkpoints: Iterable[Checkpoint], keys: Mapping[str, Key], vouched: int) -> dict[int, str]:
    """Return the entries' signatures in checkpoints, by number; raise Tampered for one that is not signed.

    Checkpoints of unknown keys up to the number ``vouched`` are ignored.
    """
    macs: dict[int, str] = {}
    for checkpoint in checkpoints:
        key = keys.get(checkpoint.key_id)
        if key is None and checkpoint.number <= vouched:
            continue
        if key is None or not key.signed(checkpoint.text, checkpoint.signature):
            raise Tampered(f"the checkpoint of entry {checkpoint.number} is not signed with a known key")
        macs[checkpoint.number] = checkpoint.mac
    return macs
