"""Operations on users' accounts. Each change that revokes a right ends the user's sessions."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Engine, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from groundtransport.accounts import passwords
from groundtransport.accounts.errors import Refused
from groundtransport.accounts.models import FULL_NAME_MAX, AdminUser
from groundtransport.accounts.tokens.issuing import revoke_all
from groundtransport.db import SAFE_METHODS, now
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.security import NAME_MAX, Role

NO_PASSWORD = "!"  # noqa: S105  # no hash of any password


class UserRefused(Refused):
    """The change of an account is refused."""


def find(dbsession: Session, name: str) -> AdminUser | None:
    """Return the user of a name, disabled or not; None if there is none. Case does not matter."""
    return dbsession.scalar(select(AdminUser).where(AdminUser.name == normal_name(name)))


def find_locked(dbsession: Session, name: str) -> AdminUser | None:
    """Return the user with the row locked until the end of the transaction; None if there is none.

    All administrators' rows are locked too, always in the same order: otherwise two administrators could demote each
    other at the same time, and none would remain.
    """
    locked = (AdminUser.name == normal_name(name)) | (AdminUser.role == Role.ADMINISTRATOR)
    query = select(AdminUser).where(locked).order_by(AdminUser.id)
    # FOR NO KEY UPDATE: a sign-in inserts a foreign key to the row and need not wait.
    query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    return next((user for user in dbsession.scalars(query) if user.name == normal_name(name)), None)


def find_for_request(request: Request, name: str) -> AdminUser | None:
    """Return the user of a URL's segment, which must be the exact name. The row is locked if the request may write."""
    user = (find if request.method in SAFE_METHODS else find_locked)(request.dbsession, name)
    return user if user and user.name == name else None


def load_detached(engine: Engine, name: str) -> AdminUser | None:
    """Return the user, detached from any session: a sign-in must hold no transaction while it hashes."""
    with Session(engine, expire_on_commit=False) as dbsession:
        return find(dbsession, name)


def all_users(dbsession: Session) -> Sequence[AdminUser]:
    """Return all users, disabled ones and service accounts too, by name."""
    return dbsession.scalars(select(AdminUser).order_by(AdminUser.name)).all()


def add(dbsession: Session, name: str, role: Role, password: str, *, one_time: bool) -> AdminUser:
    """Create a user. Raise UserRefused for an invalid or existing name, PasswordRefused for a bad password."""
    has_nul, name = "\0" in name, normal_name(name)
    if has_nul or not is_name(name):
        raise UserRefused(
            _(
                "A user name has 1 to ${most} letters, digits and . _ @ + -, and begins with a letter or a digit.",
                mapping={"most": NAME_MAX},
            )
        )
    name_in_use = UserRefused(_("There is a user ${name} already.", mapping={"name": name}))
    if find(dbsession, name):
        raise name_in_use
    user = AdminUser(name=name, role=role, password_hash=passwords.hash_new(password, _name_parts(name)))
    user.must_change_password = one_time
    try:
        with dbsession.begin_nested():
            dbsession.add(user)
    except IntegrityError as error:  # a concurrent request added the name first
        raise name_in_use from error
    return user


def add_service(dbsession: Session, name: str, role: Role) -> AdminUser:
    """Create a service account, which has API tokens and cannot sign in. Raise UserRefused as ``add`` does."""
    user = add(dbsession, name, role, passwords.generate(), one_time=False)
    user.is_service, user.password_hash = True, NO_PASSWORD
    return user


def is_name(name: str) -> bool:
    """Return True if a normalized name is valid: it is a segment of URLs, so it holds no reserved character."""
    is_plain = all(char.isalnum() or char in "._@+-" or unicodedata.category(char)[0] == "M" for char in name)
    return is_plain and name[:1].isalnum() and len(name) <= NAME_MAX


def rehash_write(user: AdminUser, password_hash: str) -> Callable[[Connection], object]:
    """Return a function that stores a stronger hash of the same password, unless it was changed in the meantime."""
    unchanged = (AdminUser.id == user.id, AdminUser.password_hash == user.password_hash)
    statement = update(AdminUser).where(*unchanged).values(password_hash=password_hash)
    return lambda connection: connection.execute(statement)


def set_password(user: AdminUser, password: str, *, one_time: bool) -> None:
    """Set a new password and end all sessions; raise PasswordRefused for a bad password.

    Raise UserRefused for a service account.
    """
    if user.is_service:
        raise UserRefused(_("${name} is a service account: it cannot sign in.", mapping={"name": user.name}))
    user.password_hash = passwords.hash_new(password, _name_parts(user.name, user.full_name or ""))
    user.must_change_password = one_time
    user.session_epoch += 1


def set_full_name(user: AdminUser, full_name: str) -> None:
    """Set the name shown on pages; raise UserRefused if it is too long or not printable. Empty removes it."""
    full_name = " ".join(unicodedata.normalize("NFC", full_name).split())
    if len(full_name) > FULL_NAME_MAX or not full_name.isprintable():
        raise UserRefused(_("A name has at most ${n} characters, all of them visible.", mapping={"n": FULL_NAME_MAX}))
    user.full_name = full_name or None


def set_role(dbsession: Session, user: AdminUser, role: Role) -> None:
    """Change the role and end all sessions; raise UserRefused if no administrator would remain."""
    if role != Role.ADMINISTRATOR:
        _keep_one_administrator(dbsession, user)
    user.role = role
    user.session_epoch += 1


def disable(dbsession: Session, user: AdminUser) -> None:
    """Disable the account, end all its sessions, and revoke its API tokens for good.

    Raise UserRefused if no administrator would remain.
    """
    _keep_one_administrator(dbsession, user)
    revoke_all(dbsession, user.id)
    user.disabled_at = user.disabled_at or now()
    user.session_epoch += 1


def enable(user: AdminUser) -> None:
    """Enable the account."""
    user.disabled_at = None
    user.session_epoch += 1  # invalidates forms that still show the account as disabled


def end_sessions(user: AdminUser) -> None:
    """End all sessions of the user and invalidate all edit keys."""
    user.session_epoch += 1


def has_administrator(dbsession: Session) -> bool:
    """Return True if an administrator can sign in."""
    return _administrators(dbsession) > 0


def _keep_one_administrator(dbsession: Session, user: AdminUser) -> None:
    is_one = user.role == Role.ADMINISTRATOR and user.disabled_at is None and not user.is_service
    if is_one and _administrators(dbsession) == 1:
        raise UserRefused(_("${name} is the last administrator.", mapping={"name": user.name}))


def _administrators(dbsession: Session) -> int:
    """Return the number of enabled administrators that can sign in."""
    enabled = (AdminUser.role == Role.ADMINISTRATOR, AdminUser.disabled_at.is_(None), AdminUser.is_service.is_(False))
    return dbsession.scalar(select(func.count()).select_from(AdminUser).where(*enabled)) or 0


def _name_parts(*names: str) -> set[str]:
    """Return the names and the words in them, which make a weak password."""
    return {*names, *re.split(r"[\W_]+", " ".join(names))}


def normal_name(name: str) -> str:
    """Return a name as it is stored and compared: NFKC, stripped, casefolded.

    Input beyond four times NAME_MAX is cut: no user has such a name, cut or not.
    """
    plain = name[: 4 * NAME_MAX].replace("\0", "")
    return unicodedata.normalize("NFKC", plain).strip().casefold()
