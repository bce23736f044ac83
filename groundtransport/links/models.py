"""The tables of link checks: the last result of each record's link, and the hosts that a process is at."""

from datetime import datetime

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime
from groundtransport.links.reading import TITLE_MAX


class LinkCheck(Base):
    """The last check of a record's link. It is void when the record's field no longer holds ``url``."""

    __tablename__ = "link_check"
    __table_args__ = (Index(None, "kind", "state"),)

    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    record_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    field: Mapped[str] = mapped_column(String(64), primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    # The status of the last answer, or why there was none.
    status: Mapped[int | None]
    failure: Mapped[str] = mapped_column(String(16))
    final_url: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(String(TITLE_MAX))
    language: Mapped[str] = mapped_column(String(8))
    checked_at: Mapped[datetime] = mapped_column(UTCDateTime)
    # The number of failures since the last success, and the time of the first of them.
    failures: Mapped[int]
    failing_since: Mapped[datetime | None] = mapped_column(UTCDateTime)


class LinkHost(Base):
    """A host whose links a process checks, and the time until which no other process may."""

    __tablename__ = "link_host"

    host: Mapped[str] = mapped_column(String(253), primary_key=True)
    owner: Mapped[str] = mapped_column(String(32))
    leased_until: Mapped[datetime] = mapped_column(UTCDateTime)
