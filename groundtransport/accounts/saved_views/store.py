"""Read and write saved views. Every function works in the transaction of the session that it gets."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from groundtransport.accounts.saved_views.models import EVERYBODY, TITLE_MAX, SavedView
from groundtransport.db import now
from groundtransport.i18n import _

MOST = 50  # views of one owner and kind

NAME = _("Give the view a name.")
LONG = _("The name can have at most ${number} characters.", mapping={"number": TITLE_MAX})
CONTROL = _("The name holds a line break or another control character.")
TAKEN = _("There is already a view called ${name}. Choose another name, or replace that view.")
TOO_MANY = _("There are ${number} views already: delete one first.", mapping={"number": MOST})


class ViewRefused(Exception):
    """A view cannot be stored. ``same`` is the view that has the name already."""

    def __init__(self, text: str, same: SavedView | None = None) -> None:
        super().__init__(text)
        self.text, self.same = text, same


def checked_name(text: str) -> str:
    """Return a name without surplus blanks. Raise ViewRefused if it is no name."""
    name = " ".join(text.split(" ")).strip()
    if not name:
        raise ViewRefused(NAME)
    if not name.isprintable():
        raise ViewRefused(CONTROL)
    if len(name) > TITLE_MAX:
        raise ViewRefused(LONG)
    return name


def key_of(name: str) -> str:
    """Return a name as names are compared: without regard to case and blanks."""
    return "".join(name.casefold().split())


def visible(dbsession: Session, user_id: int, *kinds: str) -> Sequence[SavedView]:
    """Return the user's views of some kinds and those for all, by name; the user's first."""
    own = (SavedView.owner_id.in_((user_id, EVERYBODY)), SavedView.kind.in_(kinds))
    views = dbsession.scalars(select(SavedView).where(*own)).all()
    return sorted(views, key=lambda view: (view.is_shared, view.key))


def find(dbsession: Session, user_id: int, kind: str, view_id: int) -> SavedView | None:
    """Return a view that the user sees, locked; None if there is none."""
    own = (SavedView.id == view_id, SavedView.kind == kind, SavedView.owner_id.in_((user_id, EVERYBODY)))
    return dbsession.scalar(select(SavedView).where(*own).with_for_update())


def add(dbsession: Session, view: SavedView) -> None:
    """Store a new view. Raise ViewRefused if its owner has one of the same name, or too many."""
    of_owner = (SavedView.owner_id == view.owner_id, SavedView.kind == view.kind)
    if (dbsession.scalar(select(func.count()).select_from(SavedView).where(*of_owner)) or 0) >= MOST:
        raise ViewRefused(TOO_MANY)
    view.key = key_of(view.name)
    _check(dbsession, view)
    _flush(dbsession, view, is_new=True)


def rename(dbsession: Session, view: SavedView, name: str) -> None:
    """Give a view another name. Raise ViewRefused if its owner has another one of that name."""
    with dbsession.no_autoflush:
        view.name, view.key, view.version, view.updated_at = name, key_of(name), view.version + 1, now()
        _check(dbsession, view)
    _flush(dbsession, view)


def replace(dbsession: Session, view: SavedView, state: str) -> None:
    """Give a view another query string."""
    view.state, view.version, view.updated_at = state, view.version + 1, now()
    dbsession.flush()


def remove(dbsession: Session, view: SavedView) -> None:
    """Delete a view."""
    dbsession.delete(view)
    dbsession.flush()


def _check(dbsession: Session, view: SavedView) -> None:
    """Raise ViewRefused if the owner has another view of the same name."""
    same = (SavedView.owner_id == view.owner_id, SavedView.kind == view.kind, SavedView.key == view.key)
    query = select(SavedView).where(*same)
    found = dbsession.scalar(query if view.id is None else query.where(SavedView.id != view.id))
    if found is not None:
        raise ViewRefused(_(TAKEN, mapping={"name": found.name}), found)


def _flush(dbsession: Session, view: SavedView, *, is_new: bool = False) -> None:
    """Write a view. Raise ViewRefused if another request has taken its name since ``_check``."""
    try:
        with dbsession.begin_nested():
            if is_new:
                dbsession.add(view)
            dbsession.flush()
    except IntegrityError as error:
        raise ViewRefused(_(TAKEN, mapping={"name": view.name})) from error
