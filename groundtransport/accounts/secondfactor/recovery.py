"""Recovery codes: ten codes, shown once, each valid for one sign-in.

A code has 49 bits of entropy, so it is hashed like a password: argon2id with a salt (OWASP ASVS 5.0, 6.5.2). All codes
of a user have the same salt, so that one hash computation finds the code.
"""

import re
import secrets

from argon2.low_level import Type, hash_secret_raw
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from groundtransport.accounts.secondfactor.models import RecoveryCode, SecondFactor

COUNT = 10
FEW = 3  # remaining codes at which the user is warned
# OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one lane. A change invalidates all existing codes.
COST = {"time_cost": 2, "memory_cost": 19456, "parallelism": 1}
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # no characters that look alike
_HALF = 5
_CODE = re.compile(rf"[{_ALPHABET}]{{{2 * _HALF}}}", re.ASCII)


def renew(dbsession: Session, factor: SecondFactor) -> list[str]:
    """Replace the user's codes, and return the new ones, which cannot be read again."""
    dbsession.execute(delete(RecoveryCode).where(RecoveryCode.user_id == factor.user_id))
    factor.recovery_salt = secrets.token_hex(16)
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF)) for _ in range(COUNT)]
    for code in codes:
        dbsession.add(RecoveryCode(user_id=factor.user_id, code_hash=_hash(code, factor.recovery_salt)))
    return [f"{code[:_HALF]}-{code[_HALF:]}" for code in codes]


def use(dbsession: Session, factor: SecondFactor, typed: str) -> bool:
    """Use up a code; return False if it is wrong or was used. Of two concurrent requests, one succeeds."""
    code = re.sub(r"[\s-]", "", typed).lower()
    if not _CODE.fullmatch(code):
        return False
    same = (RecoveryCode.user_id == factor.user_id, RecoveryCode.code_hash == _hash(code, factor.recovery_salt))
    deleted = dbsession.execute(delete(RecoveryCode).where(*same).returning(RecoveryCode.id))
    return len(deleted.all()) == 1


def count_left(dbsession: Session, user_id: int) -> int:
    """Return the number of the user's unused codes."""
    count = select(func.count()).select_from(RecoveryCode).where(RecoveryCode.user_id == user_id)
    return dbsession.scalar(count) or 0


def _hash(code: str, salt: str) -> str:
    return hash_secret_raw(code.encode(), salt.encode(), **COST, hash_len=32, type=Type.ID).hex()
