"""The second factor: codes of an authenticator app (TOTP), and recovery codes.

It is set up in two steps: the secret becomes active when its first code was verified, so that a user cannot be locked
out by a secret that no app holds.
"""

from datetime import timedelta
from enum import StrEnum

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor import recovery, totp
from groundtransport.accounts.secondfactor.models import PendingSignIn, RecoveryCode, SecondFactor
from groundtransport.accounts.secondfactor.sealing import is_newest, seal, unseal
from groundtransport.db import now
from groundtransport.request import Request

SET_UP_WITHIN = timedelta(minutes=15)


class Proof(StrEnum):
    """The kind of code that was verified."""

    APP = "app"
    RECOVERY_CODE = "recovery code"


def find(dbsession: Session, user_id: int) -> SecondFactor | None:
    """Return the user's second factor; None if it is off."""
    factor = dbsession.get(SecondFactor, user_id)
    return factor if factor and factor.is_on else None


def user_ids_with_factor(dbsession: Session) -> set[int]:
    """Return the ids of the users whose second factor is on."""
    return set(dbsession.scalars(select(SecondFactor.user_id).where(SecondFactor.sealed.is_not(None))))


def begin(dbsession: Session, secrets: tuple[bytes, ...], user_id: int) -> None:
    """Generate the secret of an app. It is pending until ``confirm``."""
    factor = dbsession.get(SecondFactor, user_id) or SecondFactor(user_id=user_id)
    factor.pending = seal(secrets, user_id, totp.new_secret())
    factor.pending_at = now()
    dbsession.add(factor)
    dbsession.flush()


def pending_secret(dbsession: Session, secrets: tuple[bytes, ...], user_id: int) -> str | None:
    """Return the pending secret; None if there is none, or if it is older than SET_UP_WITHIN."""
    factor = dbsession.get(SecondFactor, user_id)
    if not factor or factor.pending is None or factor.pending_at is None:
        return None
    return unseal(secrets, user_id, factor.pending) if factor.pending_at > now() - SET_UP_WITHIN else None


def confirm(dbsession: Session, secrets: tuple[bytes, ...], user: AdminUser, code: str) -> list[str] | None:
    """Switch the second factor on with a code of the pending secret, and end all sessions of the user.

    Return the recovery codes; None if the code is wrong.
    """
    secret = pending_secret(dbsession, secrets, user.id)
    step = totp.time_step(secret, code) if secret else None
    factor = dbsession.get(SecondFactor, user.id)
    if secret is None or step is None or factor is None:
        return None
    factor.sealed, factor.since, factor.last_step, factor.failures = seal(secrets, user.id, secret), now(), step, 0
    factor.pending = factor.pending_at = None
    user.session_epoch += 1
    return recovery.renew(dbsession, factor)


def verify_code(dbsession: Session, secrets: tuple[bytes, ...], factor: SecondFactor, code: str) -> Proof | None:
    """Use up a code of the app or a recovery code; return None if it is wrong or was used before."""
    if _use_app_code(dbsession, secrets, factor, code):
        return Proof.APP
    if recovery.use(dbsession, factor, code):
        factor.failures = 0
        return Proof.RECOVERY_CODE
    return None


def _use_app_code(dbsession: Session, secrets: tuple[bytes, ...], factor: SecondFactor, code: str) -> bool:
    """Use up a code of the app. Of two concurrent requests with the same code, one succeeds."""
    secret = unseal(secrets, factor.user_id, factor.sealed or "")
    step = totp.time_step(secret, code) if secret and not factor.is_locked else None
    if step is None:
        return False
    unused = (SecondFactor.user_id == factor.user_id, SecondFactor.last_step < step)
    use = update(SecondFactor).where(*unused).values(last_step=step, failures=0).returning(SecondFactor.user_id)
    return len(dbsession.execute(use).all()) == 1


def is_on(engine: Engine, user_id: int) -> bool:
    """Return True if a sign-in requires a code. Reads outside the request's transaction."""
    with Session(engine) as dbsession:
        return find(dbsession, user_id) is not None


def count_failure(request: Request, factor: SecondFactor) -> None:
    """Count a wrong code. Written with the browser's session: a refused request's own transaction is rolled back."""
    count = update(SecondFactor).where(SecondFactor.user_id == factor.user_id)
    count = count.values(failures=SecondFactor.failures + 1)
    request.session.add_write(lambda connection: connection.execute(count))


def switch_off(dbsession: Session, user: AdminUser) -> None:
    """Delete the second factor, its recovery codes and pending sign-ins, and end all sessions of the user."""
    for table in (RecoveryCode, PendingSignIn, SecondFactor):
        dbsession.execute(delete(table).where(table.user_id == user.id))
    user.session_epoch += 1


reset = switch_off  # what an administrator does for a user who lost the app


def reseal(dbsession: Session, secrets: tuple[bytes, ...]) -> int:
    """Re-encrypt the TOTP secrets that an older secret of the service sealed; return their number.

    After that, the older secret is no longer needed.
    """
    renewed = 0
    for factor in dbsession.query(SecondFactor).filter(SecondFactor.sealed.is_not(None)):
        text = unseal(secrets, factor.user_id, factor.sealed or "")
        if text is not None and not is_newest(secrets, factor.user_id, factor.sealed or ""):
            factor.sealed = seal(secrets, factor.user_id, text)
            renewed += 1
    return renewed
