"""``groundtransport backup``: write a backup, and verify that one can be restored and is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from groundtransport import db, kinds
from groundtransport.accounts.models import AdminUser
from groundtransport.audit import checkpoints, protection, search_texts
from groundtransport.audit.integrity.reconcile import reconcile
from groundtransport.audit.integrity.verify import verify as verify_log
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.db import backup as backups
from groundtransport.db import compatibility, migrations
from groundtransport.records import maintenance
from groundtransport.security_log import verification
from groundtransport.signing import Tampered, keyring

FILE = click.Path(dir_okay=False, path_type=Path)


class CreateByDefault(click.Group):
    """A group whose first argument may be a file: ``backup FILE`` is ``backup create FILE``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``create`` if the first argument is neither a command nor an option."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args.insert(0, "create")
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class Contents:
    """The numbers that a verification prints."""

    records: dict[str, int]
    people: int
    entries: int
    newest: str  # the time of the newest entry of the activity log, ISO 8601; "" without entries

    def __str__(self) -> str:
        records = ", ".join(f"{number:,} of {name}" for name, number in self.records.items())
        newest = f" up to {self.newest}" if self.newest else ""
        total = sum(self.records.values())
        return f"{total:,} records ({records}), {self.people:,} people, {self.entries:,} entries{newest}"


@click.group(cls=CreateByDefault)
def backup() -> None:
    """Back up the database to FILE, or verify a backup: backup FILE, backup verify FILE."""


@backup.command()
@click.argument("file", type=FILE)
@pass_command_context
def create(context: CommandContext, file: Path) -> None:
    """Write a backup of the database to the new file FILE. The service keeps running."""
    context.check_migrated()
    try:
        backups.write(context.settings.database_url, file)
    except backups.BackupError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{file}: {file.stat().st_size:,} bytes. Verify it by: groundtransport backup verify {file}")


@backup.command()
@click.argument("file", type=FILE)
@click.option(
    "--checkpoints",
    "log",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A process log, whose checkpoints are verified too.",
)
@pass_command_context
def verify(context: CommandContext, file: Path, log: Path | None) -> None:
    """Restore FILE into a scratch database and check everything in it; exit with 1 if something is wrong.

    A backup of an earlier release is migrated first, in the scratch database. The database in use is only compared: it
    must hold the newest log entry of the backup.
    """
    try:
        with backups.restored(context.settings.database_url, file) as url, scratch_engine(context, url) as engine:
            check_origin(context, engine, file)
            migrations.upgrade(engine, ini=context.ini)
            problems = list(faults(context, engine, log))
            contents = contents_of(engine)
    except backups.BackupError as error:
        raise click.ClickException(str(error)) from error
    except DBAPIError as error:
        raise click.ClickException(f"{file}: the restored database does not work: {error.orig}") from error
    for line in problems:
        click.echo(line)
    if problems:
        raise click.ClickException(f"{file} is not a good backup: {len(problems)} problems.")
    click.echo(f"{file} is a good backup: {contents}.")


@contextmanager
def scratch_engine(context: CommandContext, url: str) -> Iterator[Engine]:
    """Yield an engine for a scratch database; close its connections afterwards."""
    engine = db.make_engine(replace(context.settings, database_url=url))
    try:
        yield engine
    finally:
        engine.dispose()


def check_origin(context: CommandContext, engine: Engine, file: Path) -> None:
    """Raise BackupError if a restored database is not one of this service, or of a newer release than this one.

    A migration would make a database of the service, without records, of an empty one or another application's.
    """
    schema, state = migrations.schema(context.ini), compatibility.state_of(engine)
    if not state.current or (schema.unknown(state.current) and not state.is_ours):
        raise backups.BackupError(f"{file} is not a backup of this service.")
    if schema.unknown(state.current):
        raise backups.BackupError(f"{file} is a backup of a newer release: verify it with that one.")


def faults(context: CommandContext, engine: Engine, log: Path | None) -> Iterator[str]:
    """Yield a sentence for each fault of a restored database."""
    all_kinds = kinds.kinds()
    for kind in all_kinds.values():
        with db.write_engine(db.index_build_engine(engine)).connect() as connection:
            yield from maintenance.check(connection, kind)
    with engine.connect() as connection:
        yield from search_texts.check(connection)
        yield from protection.check(connection)
    with Session(engine) as dbsession:
        yield from log_faults(context, dbsession, log)
        yield from reconcile(dbsession, all_kinds)
        yield from foreign_entry(context.engine, dbsession)


def log_faults(context: CommandContext, dbsession: Session, log: Path | None) -> Iterator[str]:
    """Yield a sentence if one of the two logs was tampered with.

    Checkpoints of entries that are newer than the backup are ignored.
    """
    keys = keyring(context.settings.audit_secrets)
    head = dbsession.get_one(AuditHead, 1).number
    lines = log.read_text(errors="replace").splitlines() if log else []
    try:
        verify_log(dbsession, keys, [checkpoint for checkpoint in checkpoints.read(lines) if checkpoint.number <= head])
        verification.verify(dbsession, keys)
    except Tampered as tampered:
        yield f"The log was tampered with: {tampered}."


def foreign_entry(live: Engine, dbsession: Session) -> Iterator[str]:
    """Yield a sentence if the database in use lacks the newest log entry of the backup.

    Then the backup is of another database, or entries were removed since. An archived entry cannot be compared.
    """
    head = dbsession.get_one(AuditHead, 1)
    with Session(live) as in_use:
        first = in_use.scalar(select(func.min(AdminActivity.id)))
        mac = in_use.scalar(select(AdminActivity.mac).where(AdminActivity.id == head.number))
    if first is not None and head.number >= first and mac != head.mac:
        yield f"The database in use does not hold entry {head.number:,}, the newest of the backup."


def contents_of(engine: Engine) -> Contents:
    """Return the numbers of a restored database."""
    with Session(engine) as dbsession:
        records = {
            name: dbsession.scalar(select(func.count()).where(kind.model.is_live())) or 0
            for name, kind in kinds.kinds().items()
        }
        people = dbsession.scalar(select(func.count()).select_from(AdminUser)) or 0
        entries, newest = dbsession.execute(select(func.count(), func.max(AdminActivity.at))).one()
    return Contents(records, people, entries, newest.isoformat(timespec="seconds") if newest else "")
