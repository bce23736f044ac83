"""The tables of possible doubles: the keys that doubles have in common, and the pairs."""

from sqlalchemy import BigInteger, Index, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id

# The states of a pair: it is proposed, at one airport or at two; or somebody said that it is no double.
OPEN, REJECTED, ACROSS = 0, 1, 2


class DuplicateKey(Base):
    """A key of a live record: the hash of its kind, its airport and what its doubles may have in common."""

    __tablename__ = "duplicate_key"
    __table_args__ = {"sqlite_with_rowid": False}  # SQLAlchemy's form

    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    record_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)


class DuplicatePair(Base):
    """Two records of a kind that may be the same; ``first_id`` is less than ``second_id``.

    They are at one airport, or, with the state ACROSS, at two: ``airport_code`` is then that of one of them. An open
    pair is of live records. A rejected one is kept while both rows exist, so that it is not proposed again.
    """

    __tablename__ = "duplicate_pair"
    __table_args__ = (
        Index("ix_duplicate_pair_best", "kind", "state", "score", "second_id", "first_id"),
        Index("ix_duplicate_pair_airport", "kind", "airport_code", "state", "score", "second_id", "first_id"),
        Index("ix_duplicate_pair_second", "kind", "second_id"),
    )

    kind: Mapped[str] = mapped_column(String(64), primary_key=True)
    first_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    second_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    airport_code: Mapped[str] = mapped_column(String(3))
    state: Mapped[int] = mapped_column(SmallInteger)
    score: Mapped[int] = mapped_column(SmallInteger)  # 1 to 100, see likeness.py
    reasons: Mapped[str] = mapped_column(String(32))  # such as ``name,phone``: likeness.py
