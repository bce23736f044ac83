"""The tables of people and of their sessions."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.security import Identity, Role

NAME_MAX = 64


class AdminUser(Base):
    """A person who may sign in. Never deleted: the activity log refers to people by number and name."""

    __tablename__ = "admin_user"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_MAX), unique=True)
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str] = mapped_column(String(255))
    # A password that the system printed is good for one sign-in: the person then chooses their own.
    must_change_password: Mapped[bool] = mapped_column(default=False)
    # Raised whenever all sessions and edit keys of the person must die.
    session_epoch: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    disabled_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    @property
    def identity(self) -> Identity:
        return Identity(self.id, self.name, Role(self.role), self.session_epoch, self.must_change_password)


class AdminSession(Base):
    """A signed-in browser. Only a hash of its secret id is stored; ``data`` holds its messages."""

    __tablename__ = "admin_session"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("admin_user.id"), index=True)
    epoch: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    seen_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now, index=True)
    data: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
