"""``groundtransport import``: plan the rows of a file, and write them as one batch of the audit log."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from groundtransport.cli import import_batches
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.import_batches import BatchWriter
from groundtransport.cli.import_options import ImportRequest, import_options, options_of, read_file
from groundtransport.cli.imports import resume_import
from groundtransport.i18n import translated
from groundtransport.indexes import build, spec_of
from groundtransport.records.kind import Kind
from groundtransport.transfer.imports import files, store
from groundtransport.transfer.imports.models import ImportBatch
from groundtransport.transfer.plan_types import FURTHER_COLUMNS, Counts, ImportOptions, Outcome, PlannedRow
from groundtransport.transfer.planning import Planner
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.source_file import BadFile, FileRow, SourceFile
from groundtransport.transfer.result_table import result_rows, suffix_of, write_file

CHUNK = 500  # rows of one transaction; other writers wait for one at most
BAD = (Outcome.REFUSED, Outcome.DOUBLE)


def kind_of(context: CommandContext, name: str) -> Kind:
    """Return the kind of a name; raise BadParameter if there is none."""
    kinds = context.registry["kinds"]
    if name not in kinds:
        raise click.BadParameter(f"{name} is none of: {', '.join(kinds)}.", param_hint="KIND")
    return kinds[name]


@click.command("import")
@click.argument("kind_name", metavar="KIND")
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@import_options
@pass_command_context
def import_file(context: CommandContext, /, kind_name: str, path: Path, **given: Any) -> None:
    """Create or update records from the rows of a file: CSV, .xlsx, JSON Lines or a GTFS feed.

    Refused rows are written to FILE.errors.csv (.xlsx, .jsonl) beside it, with the reason. Exit with 1 if every row was
    refused; with --dry-run, if any would be.
    """
    kind, request = kind_of(context, kind_name), ImportRequest(**given)
    begun = interrupted_import(context, kind, path, request) if request.is_resumed else None
    if begun is not None and not begun.is_of_command:
        resume_import(context, begun.id)
        return
    reader = files.file_reader(context.registry)
    try:
        file, options = opened(reader, kind, path, request, begun)
        planner = Planner(context.registry, kind, options, finds_similar=request.is_dry_run)
        total = planner.find_doubles(reader.rows(file))  # reads it to its end: a fault is found before the first write
    except BadFile as bad:
        raise click.ClickException(translated(bad.reason)) from bad
    if request.is_dry_run:
        check(kind, file, planner, reader.rows(file), total)
        return
    begun = begun or import_batches.begin(context.engine, kind, context.actor("import"), file, options)
    ImportRun(context, kind, planner, begun).run(file, reader.rows(file), total)


def interrupted_import(context: CommandContext, kind: Kind, path: Path, request: ImportRequest) -> ImportBatch:
    """Return the import that ``--resume`` goes on with. Raise UsageError for a dry run, ClickException for none."""
    if request.is_dry_run:
        raise click.UsageError("A dry run changes no record, so there is nothing to resume.")
    return import_batches.interrupted(context.registry["engine"], kind, path)


def opened(
    reader: FileReader, kind: Kind, path: Path, request: ImportRequest, begun: ImportBatch | None
) -> tuple[SourceFile, ImportOptions]:
    """Return the recognised file and the options: those of the import that was begun, else those of the request."""
    if begun is not None and begun.source is not None:
        return files.from_json(begun.source, path), ImportOptions.from_json(begun.options)
    file = read_file(reader, path, request)
    return file, options_of(kind, file, request)


def errors_file(source: SourceFile) -> Path:
    """Return the file for bad rows: beside the input, or here when that folder cannot be written."""
    file = source.path
    folder = file.parent if os.access(file.parent, os.W_OK) else Path()
    return folder / f"{file.stem}.errors.{suffix_of(source)}"


def write_errors(kind: Kind, file: SourceFile, bad: Iterable[PlannedRow]) -> Path:
    """Write bad rows to their file, if there are any; return its path. The names of fields stand for their titles."""
    names, path = {name: name for name in (*kind.fields, *FURTHER_COLUMNS)}, errors_file(file)
    write_file(path, file, result_rows(file, bad, names, translated, are_bad=True))
    return path


def planned_chunks(planner: Planner, rows: Iterable[FileRow], total: int, label: str) -> Iterator[list[PlannedRow]]:
    """Yield planned rows in chunks, with a progress bar."""
    with click.progressbar(length=total, label=label) as bar:
        for chunk in planned_ahead(planner, rows):
            yield chunk
            bar.update(len(chunk))


def check(kind: Kind, file: SourceFile, planner: Planner, rows: Iterable[FileRow], total: int) -> None:
    """Plan every row, write nothing but the file of bad rows, and print the counts."""
    summary = Summary(batch="")

    def bad() -> Iterator[PlannedRow]:
        for chunk in planned_chunks(planner, rows, total, "Checking"):
            summary.add(chunk)
            yield from (row for row in chunk if row.outcome in BAD)

    report(summary, write_errors(kind, file, bad()))


@dataclass
class Summary:
    """What became of the rows, and the first doubt. ``batch`` is "" for a dry run."""

    batch: str
    counts: Counts = field(default_factory=Counts.none)
    first_doubt: str = ""

    def add(self, rows: Sequence[PlannedRow]) -> None:
        """Count rows."""
        self.counts = self.counts.plus_all(rows)
        doubts = (translated(row.doubts[0].reason) for row in rows if row.doubts)
        self.first_doubt = self.first_doubt or next(doubts, "")

    @property
    def written(self) -> int:
        """The number of rows that were created or updated, or would be."""
        return self.counts.outcomes[Outcome.NEW] + self.counts.outcomes[Outcome.CHANGED]

    @property
    def bad(self) -> int:
        """The number of rows that were refused, doubles among them."""
        return sum(self.counts.outcomes[outcome] for outcome in BAD)


class ImportRun:
    """Writes the rows of an import from the line after its position on."""

    def __init__(self, context: CommandContext, kind: Kind, planner: Planner, batch: ImportBatch) -> None:
        self.context, self.kind, self.planner, self.batch = context, kind, planner, batch
        self.summary = Summary(batch.batch, import_batches.counts_from_json(batch.counts))

    def run(self, file: SourceFile, rows: Iterable[FileRow], total: int) -> None:
        """Write the rows in chunks, then the file of bad rows, and print the counts.

        Raise ClickException if the database refuses: the chunks before are written, and the import can be resumed.
        """
        writer, line = BatchWriter(self.context.registry, self.kind, self.batch, self.planner.options), 0
        left = (row for row in rows if row.line > self.batch.position)
        try:
            for chunk in planned_chunks(self.planner, left, total, "Importing"):
                line = chunk[0].line
                self.summary.add(writer.write(chunk, self.summary.counts))
        except DBAPIError as error:
            raise click.ClickException(
                f"The database refused near line {line}: {error.orig}\n{self._so_far}"
            ) from error
        finally:
            update_statistics(self.context, self.kind, self.summary.written)
        writer.end()
        with Session(self.context.registry["engine"]) as dbsession:
            errors = write_errors(self.kind, file, store.iterate_rows(dbsession, self.batch.id, store.BAD))
        report(self.summary, errors)
        if self.summary.written:
            click.echo(f"To take it back: groundtransport imports undo {self.batch.id}")

    @property
    def _so_far(self) -> str:
        done = f"{self.summary.written:,} records were written before that, as batch {self.batch.batch}."
        return f"{done} To go on: the same command with --resume. To take it back: imports undo {self.batch.id}"


def planned_ahead(planner: Planner, rows: Iterable[FileRow]) -> Iterator[list[PlannedRow]]:
    """Yield planned rows in chunks; a second thread plans the next chunk while the caller writes one (decision 56)."""
    planned = planner.plan(rows)
    take = partial(lambda: list(islice(planned, CHUNK)))
    with ThreadPoolExecutor(1) as thread:
        ahead = thread.submit(take)
        while chunk := ahead.result():
            ahead = thread.submit(take)
            yield chunk


def report(run: Summary, errors: Path) -> None:
    """Print the counts. Raise ClickException for a dry run with refused rows, and if every row was refused."""
    outcomes, is_dry = run.counts.outcomes, not run.batch
    names = {"created": outcomes[Outcome.NEW], "refused": run.bad, "updated": outcomes[Outcome.CHANGED]}
    more = {"unchanged": outcomes[Outcome.UNCHANGED], "left out": outcomes[Outcome.SKIPPED]}
    shown = [f"{number:,} {name}" for name, number in names.items() if number or name in ("created", "refused")]
    shown += [f"{number:,} {name}" for name, number in more.items() if number]
    click.echo(f"Dry run: {', '.join(shown)}." if is_dry else f"{', '.join(shown)}, as batch {run.batch}.")
    if outcomes[Outcome.DOUBLE]:
        click.echo(f"Of the refused rows, {outcomes[Outcome.DOUBLE]:,} stand for one record together with others.")
    if run.counts.doubtful:
        verb = "are doubtful" if is_dry else "were saved with a doubtful value"
        click.echo(f"{run.counts.doubtful:,} rows {verb}; the first: {run.first_doubt}")
    if run.counts.similar:
        click.echo(f"{run.counts.similar:,} new rows are similar to records that are there already.")
    if run.bad:
        click.echo(f"The bad rows are in {errors}, with the reason.")
    if run.bad and (is_dry or run.bad == sum(outcomes.values())):
        raise click.ClickException(
            "Not every row can be imported." if is_dry else "No record was created: every row was refused."
        )


def update_statistics(context: CommandContext, kind: Kind, changed: int) -> None:
    """Update the database's statistics for new records. A failure is only printed: the records are committed."""
    spec = spec_of(kind.model.__table__)
    if spec and changed:
        try:
            build.tidy(context.engine, spec, changed, click.echo)
        except DBAPIError as error:
            click.echo(f"The statistics of the database were not updated: {error.orig}")
