"""The tables of second factors, recovery codes and pending sign-ins."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.accounts.models import AdminUser
from groundtransport.db import Base, Id, UTCDateTime, now

FAILURES_MAX = 100  # consecutive; NIST SP 800-63B-4, 3.2.2
SEALED_MAX = 128  # characters; a secret of 32 characters with nonce and tag has 96 in base64


class SecondFactor(Base):
    """A user's authenticator app. Secrets are encrypted: secondfactor/sealing.py."""

    __tablename__ = "admin_second_factor"
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), primary_key=True)
    # A new secret is pending until one of its codes was verified.
    pending: Mapped[str | None] = mapped_column(String(SEALED_MAX))
    pending_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    sealed: Mapped[str | None] = mapped_column(String(SEALED_MAX))
    since: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # The time step (30 s since 1970) of the last accepted code; codes up to it are not accepted again.
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)
    # Wrong codes since the last accepted one.
    failures: Mapped[int] = mapped_column(default=0)
    recovery_salt: Mapped[str] = mapped_column(String(32), default="")

    @property
    def is_on(self) -> bool:
        """True once a code of the app was verified; a pending secret is not asked for at the sign-in."""
        return self.sealed is not None

    @property
    def is_locked(self) -> bool:
        """True if codes of the app are refused; a recovery code or a reset unlocks it."""
        return self.failures >= FAILURES_MAX


class RecoveryCode(Base):
    """A recovery code. Only its hash is stored; the row is deleted when the code is used."""

    __tablename__ = "admin_recovery_code"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), index=True)
    code_hash: Mapped[str] = mapped_column(String(64))


class PendingSignIn(Base):
    """A sign-in whose password was verified and whose code is missing. It authenticates nothing."""

    __tablename__ = "admin_pending_sign_in"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(AdminUser.id), index=True)
    epoch: Mapped[int]
    # The counted attempt of the password step, which success removes: accounts/sign_in/throttle.py.
    try_id: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
