"""Recovery codes: ten, shown once, each good for one sign-in.

A code has 49 bits, so it is stored as a password is: argon2id with a salt (OWASP ASVS 5.0, 6.5.2). The salt is the
person's, so that one hash tells which of the ten it is.
"""

import re
import secrets

from argon2.low_level import Type, hash_secret_raw
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from groundtransport.accounts.secondfactor.models import RecoveryCode, SecondFactor

COUNT = 10
FEW = 3  # left: time for new ones
# OWASP's password storage cheat sheet: 19 MiB, two passes, one lane. A change makes the codes that exist worthless.
COST = {"time_cost": 2, "memory_cost": 19456, "parallelism": 1}
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # no look-alikes
_HALF = 5
_CODE = re.compile(rf"[{_ALPHABET}]{{{2 * _HALF}}}", re.ASCII)


def renew(dbsession: Session, factor: SecondFactor) -> list[str]:
    """Replace a person's codes by new ones, and return them: they cannot be read again."""
    forget(dbsession, factor.user_id)
    factor.recovery_salt = secrets.token_hex(16)
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF)) for _ in range(COUNT)]
    for code in codes:
        dbsession.add(RecoveryCode(user_id=factor.user_id, code_hash=_hash(code, factor.recovery_salt)))
    return [f"{code[:_HALF]}-{code[_HALF:]}" for code in codes]


def use(dbsession: Session, factor: SecondFactor, typed: str) -> bool:
    """Use a code up; False for one that is wrong or was used. Two at once: one of them succeeds."""
    code = re.sub(r"[\s-]", "", typed).lower()
    if not _CODE.fullmatch(code):
        return False
    same = (RecoveryCode.user_id == factor.user_id, RecoveryCode.code_hash == _hash(code, factor.recovery_salt))
    used = dbsession.execute(delete(RecoveryCode).where(*same).returning(RecoveryCode.id))
    return len(used.all()) == 1


def left(dbsession: Session, user_id: int) -> int:
    """Return how many codes the person still has."""
    count = select(func.count()).select_from(RecoveryCode).where(RecoveryCode.user_id == user_id)
    return dbsession.scalar(count) or 0


def forget(dbsession: Session, user_id: int) -> None:
    dbsession.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))


def _hash(code: str, salt: str) -> str:
    return hash_secret_raw(code.encode(), salt.encode(), **COST, hash_len=32, type=Type.ID).hex()
