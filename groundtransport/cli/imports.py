"""``groundtransport imports``: list imports, go on with one that was interrupted, and take one back."""

from collections.abc import Callable

import click
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.jobs.models import JobState
from groundtransport.jobs.runner import Runner
from groundtransport.transfer.imports import steps, store
from groundtransport.transfer.imports.models import ImportBatch, ImportState
from groundtransport.transfer.imports.shown import RESULTS

SHOWN = 20  # imports of the list
RESUMABLE = (ImportState.COMMITTING, ImportState.UNDOING)


@click.group()
def imports() -> None:
    """List, resume and undo imports, of the browser and of the command line."""


@imports.command("list")
@click.option("--all", "is_all", is_flag=True, help=f"All imports, not the last {SHOWN} alone.")
@pass_command_context
def list_imports(context: CommandContext, is_all: bool) -> None:  # noqa: FBT001  # click passes flags so
    """List imports, the newest first: number, time, person, kind, state, counts and file."""
    context.check_migrated()
    with Session(context.engine) as dbsession:
        for batch in store.page(dbsession, [], 0, 1_000_000 if is_all else SHOWN):
            at = batch.created_at.isoformat(sep=" ", timespec="minutes")
            words = [str(batch.id), at, batch.actor, batch.kind, batch.state, _counts(batch), batch.filename]
            click.echo("  ".join(words))


@imports.command("resume")
@click.argument("import_id", metavar="ID", type=click.IntRange(1))
@pass_command_context
def resume(context: CommandContext, import_id: int) -> None:
    """Go on with an import or an undo that was stopped or interrupted; see also ``import KIND FILE --resume``."""
    resume_import(context, import_id)


def resume_import(context: CommandContext, import_id: int) -> None:
    """Go on with an import or an undo whose file or entries are in the database, and print what became of it."""

    def begin(dbsession: Session, batch: ImportBatch) -> None:
        if batch.state not in RESUMABLE:
            raise click.ClickException(f"Import {import_id} is {batch.state}: there is nothing to resume.")
        if batch.is_of_command:
            raise click.ClickException(
                f"The file of import {import_id} is not stored: groundtransport import {batch.kind} FILE --resume"
            )
        if not steps.is_active(dbsession, batch):
            steps.resume(dbsession, batch)

    execute(context, import_id, begin)


@imports.command("undo")
@click.argument("import_id", metavar="ID", type=click.IntRange(1))
@pass_command_context
def undo(context: CommandContext, import_id: int) -> None:
    """Take an import back: delete what it created, and give back the old values of what it changed.

    Records that somebody changed since are kept.
    """

    def begin(dbsession: Session, batch: ImportBatch) -> None:
        if batch.state not in steps.UNDOABLE or steps.is_active(dbsession, batch):
            raise click.ClickException(f"Import {import_id} is {batch.state}: it cannot be undone.")
        steps.begin_undo(dbsession, batch, context.actor("undo"))

    execute(context, import_id, begin)


def execute(context: CommandContext, import_id: int, begin: Callable[[Session, ImportBatch], None]) -> None:
    """Begin a step of an import by ``begin``, execute its job in this process, and print what became of it."""
    registry = context.registry
    with db.transaction(registry["engine"]) as dbsession:
        batch = store.find(dbsession, import_id, lock=True)
        if batch is None:
            raise click.ClickException(f"There is no import {import_id}.")
        begin(dbsession, batch)
        job_id = batch.job_id or 0
    Runner(registry).run_one(job_id)
    with db.transaction(registry["engine"]) as dbsession:
        batch = store.locked(dbsession, import_id)
        job = steps.job_of(dbsession, batch)
        click.echo(f"Import {import_id} is {batch.state}: {_counts(batch)}.")
        if job is not None and job.state != JobState.DONE:
            raise click.ClickException(f"Its job is {job.state}. {job.message}".strip())


def _counts(batch: ImportBatch) -> str:
    counts = [f"{number:,} {name}" for name in RESULTS if (number := batch.results.get(name))]
    return ", ".join(counts) or "nothing written"
