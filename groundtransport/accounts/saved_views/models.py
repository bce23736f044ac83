"""The table of saved views."""

from datetime import datetime

from sqlalchemy import String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.security import NAME_MAX

TITLE_MAX = 60  # characters
EVERYBODY = 0  # the ``owner_id`` of a view for all


class SavedView(Base):
    """A list's query string under a name. ``owner_id`` is the id of a user, or EVERYBODY.

    ``key`` is the name as names are compared: an owner has no two views of a kind with the same. ``version`` is
    incremented by each change.
    """

    __tablename__ = "saved_view"
    __table_args__ = (UniqueConstraint("owner_id", "kind", "key"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[int] = mapped_column(Id)
    kind: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(TITLE_MAX))
    key: Mapped[str] = mapped_column(String(3 * TITLE_MAX))  # a letter has at most three in small letters
    state: Mapped[str] = mapped_column(Text)
    version: Mapped[int] = mapped_column(default=1)
    created_by: Mapped[str] = mapped_column(String(NAME_MAX))
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)

    @property
    def is_shared(self) -> bool:
        return self.owner_id == EVERYBODY
