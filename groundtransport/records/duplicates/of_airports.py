"""Similar records for many new ones, as an import needs them: each airport's records are read once.

The rule is that of ``comparison.similar``. It buys an import 20 times the rows per second (benchmarks/importing.py).
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.events import Values
from groundtransport.records.duplicates.candidates import compared_columns, links
from groundtransport.records.duplicates.comparison import SHOWN, host_of, name_key, phone_keys, similar
from groundtransport.records.kind import Kind

MOST = 150_000  # records of all airports that are kept in memory: about 80 MB
READ = 250  # records that are read in the time of one query for similar ones

Ids = dict[int, list[int]]  # by the hashes of what two records of one company share


@dataclass
class _Records:
    """The records of an airport: their number, the queries that were made for them, and ``ids`` once they are read."""

    count: int
    queries: int = 0
    ids: Ids | None = None

    @property
    def in_memory(self) -> int:
        """The number of records in memory."""
        return self.count if self.ids is not None else 0


class SimilarFinder:
    """Finds similar records of one kind. Keeps those of the airports that were looked at last.

    An airport's records are read when reading them takes no longer than the queries that were made instead, so that
    a file in any order takes at most twice the time of the best choice.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self._airports: dict[int, _Records] = {}
        self._total = 0

    def find(self, dbsession: Session, airport: Airport, values: Mapping[str, object]) -> tuple[int, ...]:
        """Return the ids of up to five live records at the airport that may be the company of ``values``."""
        records = self._records(dbsession, airport)
        if not records.count:
            return ()
        if records.ids is None:
            return tuple(record.record_id for record in similar(dbsession, self.kind, airport, values))
        keys = self._keys(airport, values)
        alike = Counter(chain.from_iterable(_holders(records.ids, texts) for texts in keys.values()))
        best = heapq.nsmallest(SHOWN, [(-reasons, -record_id) for record_id, reasons in alike.items()])
        return tuple(-record_id for _reasons, record_id in best)

    def _records(self, dbsession: Session, airport: Airport) -> _Records:
        records = self._airports.pop(airport.id, None) or _Records(self._count(dbsession, airport))
        self._airports[airport.id] = records  # moves it to the end: the oldest is first
        if records.ids is None and records.count:
            records.queries += 1
            if records.count <= min(MOST, records.queries * READ):
                records.ids = self._read(dbsession, airport)
                self._total += records.count
                self._forget_oldest()
        return records

    def _forget_oldest(self) -> None:
        for records in self._airports.values():
            if self._total <= MOST:
                return
            self._total -= records.in_memory
            records.ids, records.queries = None, 0

    def _count(self, dbsession: Session, airport: Airport) -> int:
        most = select(self.kind.model.id).where(*self._at(airport)).limit(MOST + 1).subquery()
        return dbsession.scalar(select(func.count()).select_from(most)) or 0

    def _read(self, dbsession: Session, airport: Airport) -> Ids:
        ids: Ids = defaultdict(list)
        columns = self.kind.model.__table__.c
        names = dict.fromkeys(("id", *compared_columns(self.kind)))
        for row in dbsession.execute(select(*(columns[name] for name in names)).where(*self._at(airport))):
            for texts in self._keys(airport, row._asdict()).values():
                for text in texts:
                    ids[hash(text)].append(row.id)
        return dict(ids)

    def _at(self, airport: Airport) -> tuple[ColumnElement[bool], ...]:
        return self.kind.model.__table__.c.airport_id == airport.id, self.kind.model.is_live()

    def _keys(self, airport: Airport, values: Values) -> dict[str, set[tuple[str, str]]]:
        """Return what similar records have in common, by reason: the name's key, telephone numbers, hosts."""
        label = (values.get(self.kind.label) if self.kind.label else None) or ""
        keys = {
            "name": [name_key(label)],
            "web": [host_of(link) for name in links(self.kind) if (link := values.get(name))],
            "phone": phone_keys(self.kind, values, airport.country),
        }
        return {reason: {(reason, text) for text in texts if text} for reason, texts in keys.items()}


def _holders(ids: Ids, keys: set[tuple[str, str]]) -> set[int]:
    """Return the ids of the records with one of the keys."""
    return set().union(*(ids.get(hash(key), ()) for key in keys))
