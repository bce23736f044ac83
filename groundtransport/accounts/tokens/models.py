"""The tables of API tokens and of the answers kept for repeated requests."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.security import NAME_MAX

TOKEN_NAME_MAX = 64


class ApiToken(Base):
    """A token of the API. The table holds only the hash of the secret. Rows are never deleted: the logs name them."""

    __tablename__ = "api_token"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    name: Mapped[str] = mapped_column(String(TOKEN_NAME_MAX))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)  # SHA-256, hexadecimal
    hint: Mapped[str] = mapped_column(String(8))  # the last characters, by which its owner recognises it
    role: Mapped[str] = mapped_column(String(16))
    kinds: Mapped[list[str]] = mapped_column(JSON)  # empty for all kinds
    is_read_only: Mapped[bool]
    networks: Mapped[list[str]] = mapped_column(JSON)  # in CIDR notation; empty for all networks
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    created_by: Mapped[str] = mapped_column(String(NAME_MAX))
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # The requests permitted in a window of the rate limit: tokens/limits.py.
    rate_window: Mapped[int] = mapped_column(BigInteger, default=0)
    rate_count: Mapped[int] = mapped_column(default=0)

    @property
    def is_live(self) -> bool:
        """Return True if the token is neither revoked nor expired."""
        return self.revoked_at is None and self.expires_at > now()


class StoredAnswer(Base):
    """The answer to a POST with an ``Idempotency-Key``, kept for a day: api/idempotency.py."""

    __tablename__ = "api_answer"
    token_id: Mapped[int] = mapped_column(ForeignKey(ApiToken.id), primary_key=True, autoincrement=False)
    key_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]
    headers: Mapped[dict[str, str]] = mapped_column(JSON)
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
