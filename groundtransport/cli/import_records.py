"""``groundtransport import`` and ``groundtransport sample``: create many records, as one batch of the audit log."""

import os
from pathlib import Path
from typing import Any

import click
from sqlalchemy.exc import DBAPIError

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.indexes import build, spec_of
from groundtransport.transfer import samples
from groundtransport.transfer.csv_file import BadFile, BadRows, Rows, count_lines, find_columns
from groundtransport.transfer.importer import Importer


def kind_of(context: CommandContext, name: str) -> Any:
    """Return the kind of a name; raise BadParameter if there is none."""
    kinds = context.registry["kinds"]
    if name not in kinds:
        raise click.BadParameter(f"{name} is none of: {', '.join(kinds)}.", param_hint="KIND")
    return kinds[name]


@click.command("import")
@click.argument("kind_name", metavar="KIND")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@pass_command_context
def import_file(context: CommandContext, kind_name: str, file: Path) -> None:
    """Create a record from each row of a CSV file.

    Refused rows are written to FILE.errors.csv beside it, with the reason. Exit with 1 if every row was refused.
    """
    kind = kind_of(context, kind_name)
    try:
        columns, delimiter = find_columns(file, list(kind.fields))
    except BadFile as bad:
        raise click.ClickException(str(bad)) from bad
    importer = Importer(context.registry, kind, context.actor("import"))
    rows = Rows(file, columns, delimiter)
    try:
        errors = import_rows(importer, rows, errors_file(file), count_lines(file))
    except DBAPIError as error:
        update_statistics(context, importer)
        raise click.ClickException(
            f"The database refused near line {rows.line}: {error.orig}\n"
            f"{importer.counts.created} records were created before that, as batch {importer.actor.batch}."
        ) from error
    report(importer)
    if importer.counts.refused:
        click.echo(f"The bad rows are in {errors}, with the reason in the column error.")
    update_statistics(context, importer)
    if importer.counts.refused and not importer.counts.created:
        raise click.ClickException("No record was created: every row was refused.")


def errors_file(file: Path) -> Path:
    """Return the file for bad rows: beside the input, or here when that folder cannot be written."""
    folder = file.parent if os.access(file.parent, os.W_OK) else Path()
    return folder / f"{file.stem}.errors.csv"


def import_rows(importer: Importer, rows: Rows, errors: Path, lines: int) -> Path:
    """Import rows with a progress bar, and write the refused ones to the file ``errors``; return its path."""
    with BadRows(errors, rows.columns) as bad, click.progressbar(length=lines, label="Importing") as bar:
        for row, error in importer.run(rows):
            if error:
                bad.add(dict(row), error)
            bar.update(rows.line - bar.pos)
        bar.update(lines - bar.pos)
    return errors


def report(importer: Importer) -> None:
    """Print the numbers of created and refused rows and of doubtful values."""
    counts = importer.counts
    click.echo(f"{counts.created:,} created, {counts.refused:,} refused, as batch {importer.actor.batch}.")
    if counts.doubtful:
        click.echo(f"{counts.doubtful:,} doubtful values were saved; the first: {counts.first_warning}")


def update_statistics(context: CommandContext, importer: Importer) -> None:
    """Update the database's statistics for the new records. A failure is only printed: the records are committed."""
    spec = spec_of(importer.kind.model.__table__)
    if spec and importer.counts.created:
        try:
            build.tidy(context.engine, spec, importer.counts.created, click.echo)
        except DBAPIError as error:
            click.echo(f"The statistics of the database were not updated: {error.orig}")


@click.command()
@click.argument("kind_name", metavar="KIND")
@click.option("--records", type=click.IntRange(1), default=1000, show_default=True, help="Number of records.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same records.")
@pass_command_context
def sample(context: CommandContext, kind_name: str, records: int, seed: int) -> None:
    """Create realistic records at real airports."""
    kind = kind_of(context, kind_name)
    with db.transaction(context.engine) as dbsession:
        sampler = samples.Sampler(dbsession, kind, seed)
    importer = Importer(context.registry, kind, context.actor("sample"))
    with click.progressbar(importer.run(sampler.rows(records)), length=records, label="Writing") as bar:
        refused = ""
        for _, error in bar:
            refused = refused or error
    report(importer)
    update_statistics(context, importer)
    if refused:
        raise click.ClickException(f"The first error: {refused}")
