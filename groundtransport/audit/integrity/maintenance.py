"""Key rotation and archiving of the activity log. Each inserts a signed mark."""

import json
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from groundtransport.audit.chain import text_of
from groundtransport.audit.integrity.verify import entries, read_marks, verify
from groundtransport.audit.models import ARCHIVE, ROTATE, AdminActivity, AuditHead, AuditMark
from groundtransport.db import now
from groundtransport.db.functions import advisory_lock
from groundtransport.signing import Key, extend_digest


class NothingToDo(ValueError):
    """There is nothing to rotate or to archive; the message gives the reason."""


def rotate_key(dbsession: Session, keys: dict[str, Key]) -> AuditMark:
    """Verify the whole log, and insert a mark by which the newest key vouches for all entries so far.

    The old secret is no longer needed then: the mark holds a digest of the entries that is computed without a key.
    Raise Tampered if the log does not verify, NothingToDo if no other key signed an entry since the last mark.
    """
    newest = next(iter(keys.values()))
    head = _locked_head(dbsession)
    verify(dbsession, keys)
    if _signed_by_others(dbsession, newest) <= read_marks(dbsession, {newest.key_id: newest}, strict=False).vouched:
        raise NothingToDo("The newest key has signed all entries, or vouches for them already.")
    digest = _digest_until(dbsession, keys, head.number)
    return _mark(dbsession, newest, ROTATE, head.number, head.mac, digest)


def _signed_by_others(dbsession: Session, newest: Key) -> int:
    """Return the number of the last entry or mark that another key signed; -1 if there is none."""
    entry = select(func.max(AdminActivity.id)).where(AdminActivity.key_id != newest.key_id)
    mark = select(func.max(AuditMark.number)).where(AuditMark.key_id != newest.key_id)
    numbers = (dbsession.scalar(entry), dbsession.scalar(mark))
    return max(-1 if number is None else number for number in numbers)


def archive(dbsession: Session, keys: dict[str, Key], until: datetime, write: Callable[[str], object]) -> AuditMark:
    """Pass each entry before ``until`` as a line of JSON to ``write``, insert a signed mark, and delete the entries.

    Raise Tampered if the log does not verify, NothingToDo if there is no entry before ``until``.
    """
    newest = next(iter(keys.values()))
    _locked_head(dbsession)
    verify(dbsession, keys)
    last = dbsession.scalar(select(func.max(AdminActivity.id)).where(AdminActivity.at < until))
    if last is None:
        raise NothingToDo("There is no entry of that age.")
    for entry in entries(dbsession):
        if entry["id"] > last:
            break
        write(json.dumps({**entry, "at": entry["at"].isoformat()}, ensure_ascii=False) + "\n")
    mac, at = dbsession.execute(select(AdminActivity.mac, AdminActivity.at).where(AdminActivity.id == last)).one()
    digest = _digest_until(dbsession, keys, last)
    mark = _mark(dbsession, newest, ARCHIVE, last, mac, digest, at)
    dbsession.execute(delete(AdminActivity).where(AdminActivity.id <= last))
    return mark


def _locked_head(dbsession: Session) -> AuditHead:
    query = select(AuditHead).where(AuditHead.id == 1, advisory_lock(AuditHead.id)).with_for_update()
    return dbsession.scalars(query.execution_options(populate_existing=True)).one()


def _digest_until(dbsession: Session, keys: dict[str, Key], number: int) -> str:
    """Return the digest of the entries up to a number."""
    start, previous, digest = read_marks(dbsession, keys).start
    for entry in entries(dbsession, after=start):
        if entry["id"] > number:
            break
        digest, previous = extend_digest(digest, text_of(entry, previous)), entry["mac"]
    return digest


def _mark(
    dbsession: Session, key: Key, reason: str, number: int, mac: str, digest: str, until: datetime | None = None
) -> AuditMark:
    values = {"at": now(), "reason": reason, "number": number, "mac": mac, "digest": digest, "key_id": key.key_id}
    mark = AuditMark(**values, archived_until=until)
    mark.signature = key.sign(mark.text)
    dbsession.add(mark)
    dbsession.flush()
    return mark
