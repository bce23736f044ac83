"""What can be done to a person's account. Every change that takes something away ends their sessions."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from groundtransport.accounts import passwords
from groundtransport.accounts.errors import Refused
from groundtransport.accounts.models import FULL_NAME_MAX, NAME_MAX, AdminUser
from groundtransport.db import SAFE_METHODS, now
from groundtransport.i18n import _
from groundtransport.security import Role


class UserRefused(Refused):
    """The change cannot be made."""


def find(dbsession: Session, name: str) -> AdminUser | None:
    """Return the person of that name, disabled or not; case does not matter."""
    return dbsession.scalar(select(AdminUser).where(AdminUser.name == normal_name(name)))


def locked(dbsession: Session, name: str) -> AdminUser | None:
    """Return the person for a change of their account: until it is committed, other changes wait.

    All administrators are locked with them, always in the same order, so that two who demote each other cannot both.
    """
    wanted = (AdminUser.name == normal_name(name)) | (AdminUser.role == Role.ADMINISTRATOR)
    query = select(AdminUser).where(wanted).order_by(AdminUser.id)
    # Not FOR UPDATE: a sign-in refers to the row, and need not wait.
    query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    return next((user for user in dbsession.scalars(query) if user.name == normal_name(name)), None)


def of_request(request: Any, name: str) -> AdminUser | None:
    """Return the person that an address names exactly; for a request that writes, for a change of their account."""
    user = (find if request.method in SAFE_METHODS else locked)(request.dbsession, name)
    return user if user and user.name == name else None


def look_up(engine: Engine, name: str) -> AdminUser | None:
    """Return the person, read past the request's transaction: a sign-in holds no lock while it hashes."""
    with Session(engine, expire_on_commit=False) as dbsession:
        return find(dbsession, name)


def everyone(dbsession: Session) -> Sequence[AdminUser]:
    return dbsession.scalars(select(AdminUser).order_by(AdminUser.name)).all()


def add(dbsession: Session, name: str, role: Role, password: str, *, one_time: bool) -> AdminUser:
    """Make an account; raise UserRefused for a bad or taken name, PasswordRefused for a bad password."""
    has_nul, name = "\0" in name, normal_name(name)
    if has_nul or not is_name(name):
        raise UserRefused(
            _(
                "A user name has 1 to ${most} letters, digits and . _ @ + -, and begins with a letter or a digit.",
                mapping={"most": NAME_MAX},
            )
        )
    taken = UserRefused(_("There is a user ${name} already.", mapping={"name": name}))
    if find(dbsession, name):
        raise taken
    user = AdminUser(name=name, role=role, password_hash=passwords.hash_new(password, _words(name)))
    user.must_change_password = one_time
    try:
        with dbsession.begin_nested():
            dbsession.add(user)
    except IntegrityError as error:  # somebody else was quicker
        raise taken from error
    return user


def is_name(name: str) -> bool:
    """Whether a normal name may be a user's: it stands in addresses, so it holds nothing that means something there."""
    known = all(char.isalnum() or char in "._@+-" or unicodedata.category(char)[0] == "M" for char in name)
    return known and name[:1].isalnum() and len(name) <= NAME_MAX


def new_hash(user: AdminUser, password_hash: str) -> Callable[[Connection], object]:
    """Return what writes a stronger hash of the same password, unless the password was changed in the meantime."""
    same = (AdminUser.id == user.id, AdminUser.password_hash == user.password_hash)
    return lambda connection: connection.execute(update(AdminUser).where(*same).values(password_hash=password_hash))


def set_password(user: AdminUser, password: str, *, one_time: bool) -> None:
    """Give a new password, which ends every session; raise PasswordRefused for a bad one."""
    user.password_hash = passwords.hash_new(password, _words(user.name, user.full_name or ""))
    user.must_change_password = one_time
    user.session_epoch += 1


def set_full_name(user: AdminUser, full_name: str) -> None:
    """Give the name that people read; the log refers to the user name. Raise UserRefused for one that is no text."""
    full_name = " ".join(unicodedata.normalize("NFC", full_name).split())
    if len(full_name) > FULL_NAME_MAX or not full_name.isprintable():
        raise UserRefused(_("A name has at most ${n} characters, all of them visible.", mapping={"n": FULL_NAME_MAX}))
    user.full_name = full_name or None


def set_role(dbsession: Session, user: AdminUser, role: Role) -> None:
    """Change the role; raise UserRefused for the last administrator's."""
    if role != Role.ADMINISTRATOR:
        _keep_one_administrator(dbsession, user)
    user.role = role
    user.session_epoch += 1


def disable(dbsession: Session, user: AdminUser) -> None:
    """Lock the account; raise UserRefused for the last administrator's."""
    _keep_one_administrator(dbsession, user)
    user.disabled_at = user.disabled_at or now()
    user.session_epoch += 1


def enable(user: AdminUser) -> None:
    """Unlock the account."""
    user.disabled_at = None
    user.session_epoch += 1  # a form that still shows it as disabled is out of date


def end_sessions(user: AdminUser) -> None:
    """End all sessions and edit links of the person."""
    user.session_epoch += 1


def has_administrator(dbsession: Session) -> bool:
    return _administrators(dbsession) > 0


def _keep_one_administrator(dbsession: Session, user: AdminUser) -> None:
    is_one = user.role == Role.ADMINISTRATOR and user.disabled_at is None
    if is_one and _administrators(dbsession) == 1:
        raise UserRefused(_("${name} is the last administrator.", mapping={"name": user.name}))


def _administrators(dbsession: Session) -> int:
    wanted = (AdminUser.role == Role.ADMINISTRATOR, AdminUser.disabled_at.is_(None))
    return dbsession.scalar(select(func.count()).select_from(AdminUser).where(*wanted)) or 0


def _words(*names: str) -> set[str]:
    """Return the names and their parts: no password may be little more than these."""
    return {*names, *re.split(r"[\W_]+", " ".join(names))}


def normal_name(name: str) -> str:
    """Return a name as it is stored and compared; of an absurd one, its beginning: that is nobody's, either."""
    plain = name[: 4 * NAME_MAX].replace("\0", "")
    return unicodedata.normalize("NFKC", plain).strip().casefold()
