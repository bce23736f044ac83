"""The tables of second factors, of recovery codes, and of sign-ins that wait for their second step."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.accounts.models import AdminUser
from groundtransport.db import Base, Id, UTCDateTime, now

FAILURES_MAX = 100  # in a row: NIST SP 800-63B-4, 3.2.2
SEALED_MAX = 128  # characters: a secret of 32 with nonce and tag, in base64, and room


class SecondFactor(Base):
    """A person's authenticator app. Secrets are sealed: secondfactor/sealing.py."""

    __tablename__ = "admin_second_factor"
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), primary_key=True)
    # Until the person has shown a code of it, a new secret is pending.
    pending: Mapped[str | None] = mapped_column(String(SEALED_MAX))
    pending_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    sealed: Mapped[str | None] = mapped_column(String(SEALED_MAX))
    since: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # The 30 seconds, counted from 1970, whose code was taken last: none of then or before is taken again.
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)
    # Wrong codes since the last right one.
    failures: Mapped[int] = mapped_column(default=0)
    recovery_salt: Mapped[str] = mapped_column(String(32), default="")

    @property
    def is_on(self) -> bool:
        return self.sealed is not None

    @property
    def is_locked(self) -> bool:
        """Whether codes of the app are refused by now: a recovery code or a reset helps."""
        return self.failures >= FAILURES_MAX


class RecoveryCode(Base):
    """A code for when the app is lost. Only a hash is stored; it is removed when it is used."""

    __tablename__ = "admin_recovery_code"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), index=True)
    code_hash: Mapped[str] = mapped_column(String(64))


class PendingSignIn(Base):
    """A browser whose person gave the right password and owes a code: it opens nothing. Its id is kept as a hash."""

    __tablename__ = "admin_pending_sign_in"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), index=True)
    epoch: Mapped[int]
    # The try that gave the password, which success takes back: accounts/throttle.py.
    try_id: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
