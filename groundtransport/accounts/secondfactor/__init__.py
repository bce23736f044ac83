"""The second factor: codes of an authenticator app, and recovery codes for when it is lost.

It is set up in two steps, so that nobody locks themselves out with a secret that no app holds.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor import recovery, totp
from groundtransport.accounts.secondfactor.models import PendingSignIn, RecoveryCode, SecondFactor
from groundtransport.accounts.secondfactor.sealing import is_newest, seal, unseal
from groundtransport.db import now

SET_UP_WITHIN = timedelta(minutes=15)


class Proof(StrEnum):
    """What proved that it is the person."""

    APP = "app"
    RECOVERY_CODE = "recovery code"


def of(dbsession: Session, user_id: int) -> SecondFactor | None:
    """Return the person's second factor, if it is on."""
    factor = dbsession.get(SecondFactor, user_id)
    return factor if factor and factor.is_on else None


def who_has_one(dbsession: Session) -> set[int]:
    """Return the ids of all people whose second factor is on."""
    return set(dbsession.scalars(select(SecondFactor.user_id).where(SecondFactor.sealed.is_not(None))))


def begin(dbsession: Session, secrets: tuple[bytes, ...], user_id: int) -> None:
    """Make a secret for a (new) app; nothing asks for it until ``confirm``."""
    factor = dbsession.get(SecondFactor, user_id) or SecondFactor(user_id=user_id)
    factor.pending = seal(secrets, user_id, totp.new_secret())
    factor.pending_at = now()
    dbsession.add(factor)
    dbsession.flush()


def pending_secret(dbsession: Session, secrets: tuple[bytes, ...], user_id: int) -> str | None:
    """Return the secret that waits for its first code, for as long as it does."""
    factor = dbsession.get(SecondFactor, user_id)
    if not factor or factor.pending is None or factor.pending_at is None:
        return None
    return unseal(secrets, user_id, factor.pending) if factor.pending_at > now() - SET_UP_WITHIN else None


def confirm(dbsession: Session, secrets: tuple[bytes, ...], user: AdminUser, code: str) -> list[str] | None:
    """Switch the second factor on with a code of the pending secret, which ends every session.

    Return the recovery codes; None for a wrong code.
    """
    secret = pending_secret(dbsession, secrets, user.id)
    step = totp.step_of(secret, code) if secret else None
    factor = dbsession.get(SecondFactor, user.id)
    if secret is None or step is None or factor is None:
        return None
    factor.sealed, factor.since, factor.last_step, factor.failures = seal(secrets, user.id, secret), now(), step, 0
    factor.pending = factor.pending_at = None
    user.session_epoch += 1
    return recovery.renew(dbsession, factor)


def prove(dbsession: Session, secrets: tuple[bytes, ...], factor: SecondFactor, code: str) -> Proof | None:
    """Take a code of the app or a recovery code, once; None for a wrong or used one."""
    if _take(dbsession, secrets, factor, code):
        return Proof.APP
    if recovery.use(dbsession, factor, code):
        factor.failures = 0
        return Proof.RECOVERY_CODE
    return None


def _take(dbsession: Session, secrets: tuple[bytes, ...], factor: SecondFactor, code: str) -> bool:
    """Take a code of the app. Two with the same code at once: the database lets one of them through."""
    secret = unseal(secrets, factor.user_id, factor.sealed or "")
    step = totp.step_of(secret, code) if secret and not factor.is_locked else None
    if step is None:
        return False
    unused = (SecondFactor.user_id == factor.user_id, SecondFactor.last_step < step)
    taken = update(SecondFactor).where(*unused).values(last_step=step, failures=0).returning(SecondFactor.user_id)
    return len(dbsession.execute(taken).all()) == 1


def is_on(engine: Engine, user_id: int) -> bool:
    """Whether a sign-in owes a code; read past the request's transaction."""
    with Session(engine) as dbsession:
        return of(dbsession, user_id) is not None


def count_failure(session: Any, factor: SecondFactor) -> None:
    """Count a wrong code; written with the browser's session, for a refused request writes nothing itself."""
    mine = SecondFactor.user_id == factor.user_id
    more = update(SecondFactor).where(mine).values(failures=SecondFactor.failures + 1)
    session.also(lambda connection: connection.execute(more))


def switch_off(dbsession: Session, user: AdminUser) -> None:
    """Forget the second factor with its codes, and every sign-in that waits for it; ends every session."""
    for table in (RecoveryCode, PendingSignIn, SecondFactor):
        dbsession.execute(delete(table).where(table.user_id == user.id))
    user.session_epoch += 1


# What an administrator does for somebody who lost their app is the same.
reset = switch_off


def reseal(dbsession: Session, secrets: tuple[bytes, ...]) -> int:
    """Seal anew, under the newest secret, what an older one sealed; return how many. Then the old one may go."""
    renewed = 0
    for factor in dbsession.query(SecondFactor).filter(SecondFactor.sealed.is_not(None)):
        text = unseal(secrets, factor.user_id, factor.sealed or "")
        if text is not None and not is_newest(secrets, factor.user_id, factor.sealed or ""):
            factor.sealed = seal(secrets, factor.user_id, text)
            renewed += 1
    return renewed
