"""The queries of pairs: a page, their number, all of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from groundtransport.records.duplicates.models import ACROSS, OPEN, REJECTED, DuplicatePair
from groundtransport.records.kind import Kind

EXACT = 10_000  # pairs are counted, and shown on pages, up to this number


@dataclass(frozen=True)
class PairQuery:
    """Which pairs of a kind: those that users rejected, or the open ones, at one airport or ``across`` two.

    Those at one airport can be those of one, and all can be those of the record with the id ``record`` alone.
    """

    airport_code: str = ""
    rejected: bool = False
    record: int = 0
    across: bool = False

    def conditions(self, kind: Kind) -> list[ColumnElement[bool]]:
        """Return the WHERE clauses; an index begins with their columns."""
        state = REJECTED if self.rejected else ACROSS if self.across else OPEN
        clauses = [DuplicatePair.kind == kind.name]
        if self.record:
            # The sum keeps SQLite from reading all open pairs in their order: 29 ms of 500,000, in place of 0.02 ms.
            clauses.append(DuplicatePair.state + 0 == state)
            clauses.append(or_(DuplicatePair.first_id == self.record, DuplicatePair.second_id == self.record))
        else:
            clauses.append(DuplicatePair.state == state)
        is_of_one = self.airport_code and state != ACROSS
        return [*clauses, DuplicatePair.airport_code == self.airport_code] if is_of_one else clauses


def count(dbsession: Session, kind: Kind, query: PairQuery) -> int:
    """Return the number of pairs, at most EXACT + 1."""
    some = select(DuplicatePair.first_id).where(*query.conditions(kind)).limit(EXACT + 1).subquery()
    return dbsession.scalar(select(func.count()).select_from(some)) or 0


def page(dbsession: Session, kind: Kind, query: PairQuery, start: int, length: int) -> list[DuplicatePair]:
    """Return pairs, the best first and the newest among equals."""
    return list(dbsession.scalars(_best_first(kind, query).offset(start).limit(length)))


def all_pairs(dbsession: Session, kind: Kind, query: PairQuery) -> Iterator[DuplicatePair]:
    """Yield all pairs, the best first."""
    yield from dbsession.scalars(_best_first(kind, query).execution_options(yield_per=1000))


def find(dbsession: Session, kind: Kind, one: int, other: int, *, lock: bool = False) -> DuplicatePair | None:
    """Return the pair of two records, open or rejected; with ``lock``, its row is locked."""
    return dbsession.get(DuplicatePair, (kind.name, min(one, other), max(one, other)), with_for_update=lock or None)


def _best_first(kind: Kind, query: PairQuery) -> Select[DuplicatePair]:
    order = (DuplicatePair.score.desc(), DuplicatePair.second_id.desc(), DuplicatePair.first_id.desc())
    return select(DuplicatePair).where(*query.conditions(kind)).order_by(*order)
