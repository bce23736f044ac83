"""The table of the records that the review queue has given to somebody, or that somebody skipped."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime


class ReviewLease(Base):
    """A record that the queue gives to nobody else until ``leased_until``."""

    __tablename__ = "review_lease"

    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    record_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    user_id: Mapped[int | None] = mapped_column(Id)  # None: somebody skipped it, and nobody is given it
    leased_until: Mapped[datetime] = mapped_column(UTCDateTime)
