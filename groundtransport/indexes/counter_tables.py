"""Tables of the counters. Only triggers and ``groundtransport reindex`` write to them."""

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id

ALL = "*"  # instead of an airport or a choice: all of them
DELETED = "-"  # instead of an airport: the softly deleted records
NO_BLOCK = -1  # a change of RecordCount, not of RecordBlock


class RecordCount(Base):
    """Number of live records of a kind: all, by airport, by choice, and by both."""

    __tablename__ = "record_count"
    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    airport_code: Mapped[str] = mapped_column(String(3), primary_key=True)
    choice: Mapped[str] = mapped_column(String(64), primary_key=True)
    n: Mapped[int] = mapped_column(Id)


class RecordBlock(Base):
    """Number of live records of a kind in each block of BLOCK consecutive ids."""

    __tablename__ = "record_block"
    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    block: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    n: Mapped[int] = mapped_column(Id)


class RecordChange(Base):
    """Change of a counter that is not yet added to it. Used on PostgreSQL, so that writers do not wait for each other.

    Writers insert rows, readers add their sum to the counters, and an occasional writer moves them into the counters.
    """

    __tablename__ = "record_change"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    airport_code: Mapped[str] = mapped_column(String(3))
    choice: Mapped[str] = mapped_column(String(64))
    block: Mapped[int] = mapped_column(Id)
    n: Mapped[int] = mapped_column(Id)


class SearchLayout(Base):
    """Layout of a kind's stored search texts (records/search/layout.py), written only by ``reindex``."""

    __tablename__ = "search_layout"
    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    layout: Mapped[str] = mapped_column(Text)
