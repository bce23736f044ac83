"""Compare planned rows with the live records: a source that another record has, and similar records."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from groundtransport.i18n import _
from groundtransport.records.duplicates.of_airports import SimilarFinder
from groundtransport.records.sources import owners_by_source, source_key
from groundtransport.transfer.plan_types import CellProblem, Outcome, PlannedRow
from groundtransport.transfer.planning.context import PlanContext
from groundtransport.transfer.reading.source_file import FileRow

SOURCE_TAKEN = _("The record ${id} has this source and source ID.")


def refuse_taken_sources(context: PlanContext, dbsession: Session, rows: Sequence[PlannedRow]) -> Iterator[PlannedRow]:
    """Yield the rows; refuse those whose source and source id are another live record's."""
    keys = {row.line: key for row in rows if row.values and (key := _new_source(row))}
    taken = owners_by_source(dbsession, context.kind, set(keys.values()))
    for row in rows:
        key = keys.get(row.line)
        owner = taken.get(key) if key else None
        yield _refused(context, row, owner) if owner is not None and owner != row.record_id else row


def _new_source(row: PlannedRow) -> tuple[str, str] | None:
    """Return the pair that a row gives a record; None if it leaves the record's own."""
    is_set = row.outcome == Outcome.NEW or {"source", "source_id"} & row.changes.keys()
    return source_key(row.values or {}) if is_set else None


def _refused(context: PlanContext, row: PlannedRow, owner: int) -> PlannedRow:
    """Return a row that is refused because the record with the id ``owner`` has its source."""
    text = context.reader.cell(FileRow(row.line, row.cells), "source_id")
    reason = _(str(SOURCE_TAKEN), mapping={"id": str(owner)})
    problem = CellProblem("source_id", context.reader.column("source_id"), text, reason)
    return replace(row, outcome=Outcome.REFUSED, values=None, changes={}, doubts=(), problems=(problem,))


def add_similar(context: PlanContext, dbsession: Session, finder: SimilarFinder, row: PlannedRow) -> PlannedRow:
    """Return a new row with the ids of the records that may be the same; any other row as it is."""
    if row.outcome != Outcome.NEW or row.values is None:
        return row
    airport = context.schemas.airport(dbsession, row.values["airport_code"])
    assert airport is not None  # a row with values has an airport
    similar = finder.find(dbsession, airport, row.values)
    return replace(row, similar=similar) if similar else row
