"""The latest activity on the dashboard: the entries of a batch are shown as one."""

from sqlalchemy import String, case, cast, func, select
from sqlalchemy.orm import Session

from groundtransport.audit.entries import ShownEntry, page_entries, rows
from groundtransport.audit.models import AdminActivity
from groundtransport.request import Request

WINDOW = 10_000  # entries that are grouped; larger batches are counted up to here


def latest_entries(request: Request, length: int) -> list[ShownEntry]:
    """Return up to ``length`` of the newest entries, of each batch only its newest one.

    The attribute ``records`` is the number of entries in the batch; ``is_more`` is True if the batch reaches beyond
    the last WINDOW entries. If none of the newest entries belongs to a batch, only these are read.
    """
    dbsession = request.dbsession
    newest = rows(dbsession, 0, length)
    groups = _groups(dbsession, length) if any(row["batch"] for row in newest) else {}
    if groups:
        newest = rows(dbsession, 0, length, AdminActivity.id.in_(list(groups)))
    entries = page_entries(request, newest)
    beyond = entries[0].id - WINDOW if entries else 0  # the entries are numbered without gaps
    for entry in entries:
        entry.records, first = groups.get(entry.id, (1, entry.id))
        entry.is_more = entry.records > 1 and first == beyond + 1 > 1
    return entries


def _groups(dbsession: Session, length: int) -> dict[int, tuple[int, int]]:
    """Return the number of entries and the id of the first entry of each group, by the id of its last entry."""
    window = select(AdminActivity.id, AdminActivity.batch).order_by(AdminActivity.id.desc()).limit(WINDOW).subquery()
    group = case((window.c.batch == "", cast(window.c.id, String)), else_=window.c.batch)
    last = func.max(window.c.id)
    query = select(last, func.count(), func.min(window.c.id)).group_by(group).order_by(last.desc()).limit(length)
    return {last_id: (number, first_id) for last_id, number, first_id in dbsession.execute(query)}
