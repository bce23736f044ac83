"""The job that plans every row of a file, and stores the rows and their counts. No record is changed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from groundtransport.jobs import JobRun
from groundtransport.json_types import Json
from groundtransport.transfer.imports import files, store
from groundtransport.transfer.imports.models import ImportState
from groundtransport.transfer.plan_json import text_to_json
from groundtransport.transfer.plan_types import CellProblem, ImportOptions, PlannedRow
from groundtransport.transfer.planning.planner import Planner
from groundtransport.transfer.reading.source_file import BadFile
from groundtransport.transfer.row_writer import log_head

CHUNK = 500  # rows of one transaction
GROUPS = 200  # groups of problems that are stored, the largest
DOUBTFUL, SIMILAR = "doubtful", "similar"


@dataclass
class ProblemGroup:
    """Equal problems: of one field and reason, and of one value if the value can be replaced by a proposal."""

    problem: CellProblem
    count: int
    by_value: bool

    def to_json(self) -> list[object]:
        return [self.problem.to_json(), self.count, self.by_value]

    @classmethod
    def from_json(cls, data: list[Json]) -> "ProblemGroup":
        return cls(CellProblem.from_json(data[0]), data[1], data[2])


@dataclass
class Summary:
    """The counts of planned rows, and their problems in groups."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: dict[tuple[str, ...], ProblemGroup] = field(default_factory=dict)

    def add(self, row: PlannedRow) -> None:
        """Count a row and its problems."""
        self.counts[row.outcome.value] += 1
        self.counts[DOUBTFUL] += bool(row.doubts)
        self.counts[SIMILAR] += bool(row.similar)
        for problem in row.problems:
            self._add_problem(problem)

    def _add_problem(self, problem: CellProblem) -> None:
        by_value = bool(problem.value) and (bool(problem.proposals) or problem.field == "airport_name")
        key = (problem.field, problem.code, problem.value if by_value else "")
        if key in self.problems:
            self.problems[key].count += 1
        elif len(self.problems) < 50 * GROUPS:  # memory stays flat, whatever the file holds
            self.problems[key] = ProblemGroup(problem, 1, by_value)

    def groups(self) -> list[ProblemGroup]:
        """Return the largest groups, the largest first."""
        return sorted(self.problems.values(), key=lambda group: -group.count)[:GROUPS]


def preview(run: JobRun) -> None:
    """Plan and store every row of the file."""
    import_id = run.parameters["import_id"]
    with run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        store.remove_rows(dbsession, import_id)
        batch.undo_position = log_head(dbsession)
        kind, source, options = run.registry["kinds"][batch.kind], batch.source, ImportOptions.from_json(batch.options)
    summary, reason = Summary(), None
    with files.on_disk(run.registry, import_id) as path:
        run.total = files.count_lines(path) or None
        reader, file = files.file_reader(run.registry), files.from_json(source or {}, path)
        planner = Planner(run.registry, kind, options)
        try:
            planner.find_doubles(reader.rows(file))
            for chunk in chunks(planner.plan(reader.rows(file))):
                store_chunk(run, import_id, chunk, summary)
        except BadFile as bad:
            reason = bad.reason
    finish(run, import_id, summary, reason)


def chunks(rows: Iterator[PlannedRow]) -> Iterator[list[PlannedRow]]:
    """Yield the rows in lists of CHUNK."""
    return iter(lambda: list(islice(rows, CHUNK)), [])


def store_chunk(run: JobRun, import_id: int, chunk: Iterable[PlannedRow], summary: Summary) -> None:
    """Store planned rows in a transaction, and count them."""
    chunk = list(chunk)
    for row in chunk:
        summary.add(row)
    run.done += len(chunk)
    with run.transaction() as dbsession:
        store.add_rows(dbsession, import_id, chunk)


def finish(run: JobRun, import_id: int, summary: Summary, reason: str | None) -> None:
    """Store the counts; go back to the columns if the file could not be read to its end."""
    with run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        batch.counts = dict(summary.counts)
        batch.problems = [group.to_json() for group in summary.groups()]
        batch.state, batch.problem = ImportState.PREVIEW, None
        if reason is not None:
            batch.state, batch.problem = ImportState.COLUMNS, text_to_json(reason)


def groups_of(data: list[Json]) -> list[ProblemGroup]:
    """Return the stored groups of problems."""
    return [ProblemGroup.from_json(group) for group in data]
