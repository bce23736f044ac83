"""Does the log still say what it said? ``verify`` asks the chain, ``reconcile`` asks the records."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Text, and_, case, func, not_, or_, select, type_coerce
from sqlalchemy.orm import Session

from groundtransport.audit.chain import COLUMNS, GENESIS, Key, digest_more, text_of
from groundtransport.audit.checkpoints import Checkpoint
from groundtransport.audit.models import ARCHIVE, ROTATE, AdminActivity, AuditHead, AuditMark

BATCH = 5_000  # rows read at a time


class Tampered(Exception):
    """The log is not what was written; the message names the first bad entry."""


@dataclass(frozen=True)
class Verified:
    """What was found in order."""

    entries: int
    head: int
    checkpoints: int = 0


def verify(dbsession: Session, keys: Mapping[str, Key], checkpoints: Iterable[Checkpoint] = ()) -> Verified:
    """Walk the whole chain; raise Tampered at the first entry, mark or checkpoint that does not fit."""
    marks = checked_marks(dbsession, keys)
    wanted = checked_checkpoints(checkpoints, keys)
    promised = len(wanted)
    number, previous, digest = start_of(marks)
    first, rotated = number, {mark.number: mark for mark in marks if mark.reason == ROTATE}
    newest_rotation = max(rotated, default=0)
    pending = _Unsigned(newest_rotation)
    for entry in entries(dbsession):
        number += 1
        if entry["id"] != number:
            raise Tampered(f"entry {number} is missing")
        text = text_of(entry, previous)
        digest = digest_more(digest, text)
        key = keys.get(entry["key_id"])
        if key is None:
            pending.note(number, entry["key_id"])
        elif not key.signed(text, entry["mac"]):
            raise Tampered(f"entry {number} was changed")
        previous = entry["mac"]
        check_mark(rotated.get(number), previous, digest)
        if number in wanted and wanted.pop(number) != previous:
            raise Tampered(f"entry {number} is not the one that a checkpoint names")
    check_head(dbsession, number, previous)
    past = [checkpoint for checkpoint in wanted if checkpoint > first]
    if past:
        raise Tampered(f"entry {number + 1} is missing: a checkpoint names {max(past)}, the log ends at {number}")
    return Verified(number - first, number, promised)


class _Unsigned:
    """Entries of a key that is gone: a rotation's mark must vouch for them."""

    def __init__(self, vouched: int) -> None:
        self.vouched = vouched

    def note(self, number: int, key_id: str) -> None:
        if number > self.vouched:
            raise Tampered(f"entry {number} is signed with the unknown key {key_id}")


def entries(dbsession: Session) -> Iterator[dict[str, Any]]:
    """Yield all entries by number, ``changes`` as the text that was signed; never many in memory at once."""
    names = (*COLUMNS, "mac")
    columns = [
        type_coerce(AdminActivity.changes, Text).label(name) if name == "changes" else getattr(AdminActivity, name)
        for name in names
    ]
    after = 0
    while True:
        page = select(*columns).where(AdminActivity.id > after).order_by(AdminActivity.id).limit(BATCH)
        rows = dbsession.execute(page).all()
        if not rows:
            return
        for row in rows:
            yield dict(zip(names, row, strict=True))
        after = rows[-1].id


def checked_marks(dbsession: Session, keys: Mapping[str, Key]) -> list[AuditMark]:
    """Return the marks by time; raise Tampered for one that none of our keys signed."""
    marks = list(dbsession.scalars(select(AuditMark).order_by(AuditMark.id)))
    for mark in marks:
        key = keys.get(mark.key_id)
        if key is None or not key.signed(mark.text, mark.signature):
            raise Tampered(f"the mark at entry {mark.number} ({mark.reason}) is not signed by a key of ours")
    return marks


def start_of(marks: list[AuditMark]) -> tuple[int, str, str]:
    """Return where the log begins: number, signature and digest of the last entry that was archived, or of none."""
    archived = [mark for mark in marks if mark.reason == ARCHIVE]
    if not archived:
        return 0, GENESIS, ""
    last = max(archived, key=lambda mark: mark.number)
    return last.number, last.mac, last.digest


def check_mark(mark: AuditMark | None, mac: str, digest: str) -> None:
    if mark is not None and (mark.mac, mark.digest) != (mac, digest):
        raise Tampered(f"an entry up to {mark.number} was changed: the mark of the key's rotation does not fit")


def check_head(dbsession: Session, number: int, mac: str) -> None:
    head = dbsession.get(AuditHead, 1, populate_existing=True)
    if head is None or (head.number, head.mac) != (number, mac):
        raise Tampered(f"entry {number + 1} is missing: the head names {head.number if head else 'nothing'}")


def checked_checkpoints(checkpoints: Iterable[Checkpoint], keys: Mapping[str, Key]) -> dict[int, str]:
    wanted: dict[int, str] = {}
    for checkpoint in checkpoints:
        key = keys.get(checkpoint.key_id)
        if key is None or not key.signed(checkpoint.text, checkpoint.signature):
            raise Tampered(f"the checkpoint of entry {checkpoint.number} is not signed by a key of ours")
        wanted[checkpoint.number] = checkpoint.mac
    return wanted


def reconcile(dbsession: Session, kinds: Mapping[str, Any]) -> list[str]:
    """Return where the log and the records disagree, in words; nothing when they agree.

    For each record: one create entry, an update entry for each version after the first, and the last of its deletions
    and restorations is what it is now. Records whose entries were archived in part are left out.
    """
    begin = dbsession.scalar(select(func.max(AuditMark.archived_until)).where(AuditMark.reason == ARCHIVE))
    found: list[str] = []
    for kind in kinds.values():
        found += _unlogged(dbsession, kind, begin)
        found += _unrecorded(dbsession, kind, begin)
    return found


def _counts(kind: Any) -> Any:
    def number(*actions: str) -> Any:
        return func.sum(case((AdminActivity.action.in_(actions), 1), else_=0))

    return (
        select(
            AdminActivity.record_id.label("record_id"),
            number("create").label("created"),
            number("update").label("updated"),
            number("delete").label("deleted"),
            number("restore").label("restored"),
            number("purge").label("purged"),
        )
        .where(AdminActivity.kind == kind.name)
        .group_by(AdminActivity.record_id)
        .subquery()
    )


def _unlogged(dbsession: Session, kind: Any, begin: Any) -> list[str]:
    """Records whose entries are not what they should be."""
    model, log = kind.model, _counts(kind)
    gone = case((not_(model.is_live()), 1), else_=0)
    agrees = and_(
        log.c.created == 1,
        log.c.updated == model.version - 1,
        log.c.deleted - log.c.restored == gone,
        log.c.purged == 0,
    )
    wrong = or_(log.c.record_id.is_(None), not_(agrees))
    query = select(model.id).outerjoin(log, log.c.record_id == model.id).where(wrong)
    if begin is not None:
        query = query.where(model.created_at > begin)
    ids = dbsession.scalars(query.order_by(model.id))
    return [f"{kind.name} {record_id}: the log does not account for it as it is" for record_id in ids]


def _unrecorded(dbsession: Session, kind: Any, begin: Any) -> list[str]:
    """Entries of records that are not there, though the log does not say that they went."""
    model, log = kind.model, _counts(kind)
    went = log.c.purged == 1 if hasattr(model, "deleted_at") else log.c.deleted == 1
    missing = (
        select(log.c.record_id).outerjoin(model, model.id == log.c.record_id).where(model.id.is_(None), not_(went))
    )
    ids = dbsession.scalars(missing.order_by(log.c.record_id))
    return [f"{kind.name} {record_id}: is in the log, and is gone" for record_id in ids]
