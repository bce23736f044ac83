"""The tables of the counters. Triggers keep them; nothing else writes to them but ``reindex``."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id

ALL = "*"  # in place of an airport or a choice: of all of them
DELETED = "-"  # in place of an airport: the softly deleted records
NO_BLOCK = -1


class RecordCount(Base):
    """How many live records of a kind there are: in all, of an airport, of a choice, and of both."""

    __tablename__ = "record_count"
    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    airport_code: Mapped[str] = mapped_column(String(3), primary_key=True)
    choice: Mapped[str] = mapped_column(String(64), primary_key=True)
    n: Mapped[int] = mapped_column(Id)


class RecordBlock(Base):
    """How many live records of a kind have an id in a block of BLOCK ids."""

    __tablename__ = "record_block"
    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    block: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    n: Mapped[int] = mapped_column(Id)


class RecordChange(Base):
    """What changed since the counters were last brought up to date: on PostgreSQL, so that writers never meet.

    A writer adds rows; a reader adds them up; one writer in many moves them into the counters.
    """

    __tablename__ = "record_change"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    airport_code: Mapped[str] = mapped_column(String(3))
    choice: Mapped[str] = mapped_column(String(64))
    block: Mapped[int] = mapped_column(Id)
    n: Mapped[int] = mapped_column(Id)
