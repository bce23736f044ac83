"""The latest activity of the overview: an entry a line, and one line for all entries of a batch."""

from typing import Any

from sqlalchemy import String, case, cast, func, select
from sqlalchemy.orm import Session

from groundtransport.audit.models import AdminActivity
from groundtransport.audit.views import entries

WINDOW = 10_000  # entries that are grouped: a larger batch is counted up to here


def latest_entries(dbsession: Session, length: int) -> list[dict[str, Any]]:
    """Return entries, the newest first, of each batch the newest one only.

    ``records`` is the number of entries that an entry stands for; ``is_more`` says that the batch has more of them.
    Only the last WINDOW entries are read, and none but the newest ones while these are of no batch.
    """
    newest = entries(dbsession, 0, length)
    groups = _groups(dbsession, length) if any(entry["batch"] for entry in newest) else {}
    if groups:
        newest = entries(dbsession, 0, length, AdminActivity.id.in_(list(groups)))
    beyond = newest[0]["id"] - WINDOW if newest else 0  # the log counts without gaps
    for entry in newest:
        records, first = groups.get(entry["id"], (1, entry["id"]))
        entry |= {"records": records, "is_more": records > 1 and first == beyond + 1 > 1}
    return newest


def _groups(dbsession: Session, length: int) -> dict[int, tuple[int, int]]:
    """Return the number of entries and the first entry of each group, by the group's last entry."""
    window = select(AdminActivity.id, AdminActivity.batch).order_by(AdminActivity.id.desc()).limit(WINDOW).subquery()
    group = case((window.c.batch == "", cast(window.c.id, String)), else_=window.c.batch)
    last = func.max(window.c.id)
    query = select(last, func.count(), func.min(window.c.id)).group_by(group).order_by(last.desc()).limit(length)
    return {found: (number, first) for found, number, first in dbsession.execute(query)}
