"""Plan an import: what becomes of each row of a file. The same planner serves the preview, the import and the tests."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import phonenumbers
from sqlalchemy.orm import Session

from groundtransport.db import read_engine
from groundtransport.records.duplicates.of_airports import SimilarFinder
from groundtransport.records.fields import OtherPlaces
from groundtransport.records.kind import Kind
from groundtransport.request import Registry
from groundtransport.transfer.plan_types import ImportOptions, PlannedRow
from groundtransport.transfer.planning.context import KeyedRow, PlanContext
from groundtransport.transfer.planning.doubles import DoubleFinder, Doubles
from groundtransport.transfer.planning.matching import Matcher, key_names, keys_of
from groundtransport.transfer.planning.proposals import Proposals
from groundtransport.transfer.planning.record_checks import add_similar, refuse_taken_sources
from groundtransport.transfer.planning.row_planner import RowPlanner
from groundtransport.transfer.planning.row_texts import TextReader
from groundtransport.transfer.planning.schemas import Schemas
from groundtransport.transfer.reading.source_file import FileRow

CHUNK = 500  # rows whose records are matched and read by one query each


class Planner:
    """Plans the rows of a file for one kind. It keeps caches, so it serves one import at a time.

    ``doubles`` are the rows that stand for the same record as others: ``Planner.find_doubles`` finds them in a first
    pass over the file. ``finds_similar`` is false where nobody looks at similar records.
    """

    def __init__(
        self,
        registry: Registry,
        kind: Kind,
        options: ImportOptions,
        doubles: Doubles | None = None,
        *,
        finds_similar: bool = True,
    ) -> None:
        self.engine, self.kind, self.options = registry["engine"], kind, options
        self.doubles: Doubles = doubles or {}
        schemas = Schemas(kind, registry["settings"].default_country, OtherPlaces.DOUBTFUL)
        self._context = PlanContext(kind, options, TextReader(kind, options), schemas, Proposals())
        self._matcher = Matcher(kind, options.match)
        self._similar_finder = SimilarFinder(kind) if finds_similar else None
        phonenumbers.enable_pattern_cache()  # a worldwide file needs more patterns than the cache of ``re`` holds

    def find_doubles(self, rows: Iterable[FileRow]) -> int:
        """Find the rows of the whole file that stand for the same record, to plan them as DOUBLE.

        Return the number of rows. Raise BadFile if the file cannot be read to its end.
        """
        finder, number = DoubleFinder(), 0
        reader = TextReader(self.kind, self.options, key_names(self.kind, self.options.match))
        with Session(read_engine(self.engine)) as dbsession:
            for row in rows:
                number += 1
                if row.line not in self.options.decisions.left_out:
                    finder.add(row.line, self._read(dbsession, reader, row).keys)
        self.doubles = finder.doubles
        return number

    def plan(self, rows: Iterable[FileRow]) -> Iterator[PlannedRow]:
        """Yield the plan of each row. Each chunk is read in a short transaction of its own; nothing is written."""
        rows = iter(rows)
        while chunk := list(islice(rows, CHUNK)):
            with Session(read_engine(self.engine)) as dbsession:
                planned = self.plan_chunk(dbsession, chunk)
            yield from planned

    def plan_chunk(self, dbsession: Session, rows: Sequence[FileRow]) -> list[PlannedRow]:
        """Return the plan of some rows as the records are in the transaction of ``dbsession``."""
        chunk = [self._read(dbsession, self._context.reader, row) for row in rows]
        matches = self._matcher.find(dbsession, [row.keys for row in chunk])
        records = self._matcher.records(dbsession, {number for match in matches for number in match})
        planner = RowPlanner(self._context, dbsession, records, self.doubles)
        planned = [planner.plan(row, match) for row, match in zip(chunk, matches, strict=True)]
        checked = refuse_taken_sources(self._context, dbsession, planned)
        if self._similar_finder is None:
            return list(checked)
        return [add_similar(self._context, dbsession, self._similar_finder, row) for row in checked]

    def _read(self, dbsession: Session, reader: TextReader, row: FileRow) -> KeyedRow:
        row_texts = reader.read(row)
        airport = self._context.schemas.airport(dbsession, row_texts.code)
        return KeyedRow(row_texts, keys_of(self.kind, self.options.match, row_texts, airport))
