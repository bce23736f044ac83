"""What can be done to a person's account. Every change that takes something away ends their sessions."""

import unicodedata
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from groundtransport.accounts import passwords
from groundtransport.accounts.models import NAME_MAX, AdminUser
from groundtransport.db import now
from groundtransport.security import Role


class UserRefused(ValueError):
    """The change cannot be made; the message says why."""


def find(dbsession: Session, name: str) -> AdminUser | None:
    """Return the person of that name, disabled or not; case does not matter."""
    return dbsession.scalar(select(AdminUser).where(AdminUser.name == normal_name(name)))


def everyone(dbsession: Session) -> Sequence[AdminUser]:
    return dbsession.scalars(select(AdminUser).order_by(AdminUser.name)).all()


def add(dbsession: Session, name: str, role: Role, password: str, *, one_time: bool) -> AdminUser:
    """Make an account; raise UserRefused for a bad or taken name, PasswordRefused for a bad password."""
    name = normal_name(name)
    if not name or len(name) > NAME_MAX or not name.isprintable() or " " in name:
        raise UserRefused(f"A user name has 1 to {NAME_MAX} characters and no blanks.")
    if find(dbsession, name):
        raise UserRefused(f"There is a user {name} already.")
    user = AdminUser(name=name, role=role, password_hash=passwords.hash_new(password, name))
    user.must_change_password = one_time
    dbsession.add(user)
    dbsession.flush()
    return user


def set_password(user: AdminUser, password: str, *, one_time: bool) -> None:
    """Give a new password, which ends every session; raise PasswordRefused for a bad one."""
    user.password_hash = passwords.hash_new(password, user.name)
    user.must_change_password = one_time
    user.session_epoch += 1


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


def has_administrator(dbsession: Session) -> bool:
    return _administrators(dbsession) > 0


def _keep_one_administrator(dbsession: Session, user: AdminUser) -> None:
    is_one = user.role == Role.ADMINISTRATOR and user.disabled_at is None
    if is_one and _administrators(dbsession) == 1:
        raise UserRefused(f"{user.name} is the last administrator.")


def _administrators(dbsession: Session) -> int:
    wanted = (AdminUser.role == Role.ADMINISTRATOR, AdminUser.disabled_at.is_(None))
    return dbsession.scalar(select(func.count()).select_from(AdminUser).where(*wanted)) or 0


def normal_name(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
