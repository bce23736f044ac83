"""``groundtransport audit``: verify, archive and re-sign the activity log, and compare it with the records."""

from datetime import datetime, timedelta
from pathlib import Path

import click
from sqlalchemy.orm import Session

from groundtransport import db, kinds
from groundtransport.audit import checkpoints, protection
from groundtransport.audit.integrity import maintenance
from groundtransport.audit.integrity.reconcile import reconcile as find_disagreements
from groundtransport.audit.integrity.reconcile import uninstalled
from groundtransport.audit.integrity.verify import verify as verify_log
from groundtransport.audit.models import AuditHead
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.param_types import Age
from groundtransport.security_log import verification
from groundtransport.signing import Key, Tampered, keyring


def keys_of(context: CommandContext) -> dict[str, Key]:
    """Return the signing keys of the audit secrets, by their id."""
    context.check_migrated()
    return keyring(context.settings.audit_secrets)


def snapshot(context: CommandContext) -> Session:
    """Return a session whose queries all see the same snapshot, without locks."""
    is_sqlite = context.engine.dialect.name == "sqlite"  # SQLite's transactions are snapshots
    return Session(context.engine if is_sqlite else context.engine.execution_options(isolation_level="REPEATABLE READ"))


@click.group()
def audit() -> None:
    """Verify and maintain the activity log."""


@audit.command()
@click.option(
    "--checkpoints",
    "log",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A process log, whose checkpoints are verified too.",
)
@pass_command_context
def verify(context: CommandContext, log: Path | None) -> None:
    """Verify both logs and their triggers.

    Print the first bad entry and exit with 1 if an entry was changed or is missing.
    """
    try:
        log_checkpoints = list(checkpoints.read(log.read_text(errors="replace").splitlines())) if log else []
    except (ValueError, TypeError) as error:
        raise click.ClickException(f"{log}: a checkpoint cannot be read") from error
    try:
        with snapshot(context) as dbsession:
            result = verify_log(dbsession, keys_of(context), log_checkpoints)
            count = verification.verify(dbsession, keys_of(context))
            unprotected = list(protection.check(dbsession.connection()))
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}.") from tampered
    if unprotected:
        raise click.ClickException("\n".join([*unprotected, "Put the triggers back by: groundtransport init"]))
    checked = f", {result.checkpoints:,} checkpoints" if log else ""
    click.echo(
        f"{result.entries:,} entries verified, up to number {result.head:,}{checked}; {count:,} security events."
    )


@audit.command()
@pass_command_context
def reconcile(context: CommandContext) -> None:
    """Compare the activity log with the records and the users.

    Print the differences and exit with 1 if there are any. Kinds that are not installed are named, and not compared.
    """
    context.check_migrated()
    with snapshot(context) as dbsession:
        all_kinds = kinds.kinds()
        messages = find_disagreements(dbsession, all_kinds)
        left_out = uninstalled(dbsession, all_kinds)
    for line in (*left_out, *messages):
        click.echo(line)
    if messages:
        raise click.ClickException(f"{len(messages)} disagreements between the log and the database.")
    click.echo("The log agrees with the records and the people.")


@audit.command("rotate-key")
@pass_command_context
def rotate_key(context: CommandContext) -> None:
    """Let the new GROUNDTRANSPORT_AUDIT_SECRET vouch for all entries signed with the old one (..._OLD)."""
    try:
        with db.transaction(context.engine) as dbsession:
            if verification.reseal(dbsession, keys_of(context), context.actor("rotate").name):
                click.echo("It vouches for the security log, too.")
        with db.transaction(context.engine) as dbsession:
            mark = maintenance.rotate_key(dbsession, keys_of(context))
            click.echo(f"The key {mark.key_id} vouches for the entries up to {mark.number:,}.")
    except maintenance.NothingToDo as nothing:
        click.echo(str(nothing))
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}. Nothing was signed.") from tampered


@audit.command()
@click.option("--older-than", type=Age(), required=True, help="The minimum age, such as 365d, 52w or 1y.")
@click.option("--to", "file", type=click.Path(dir_okay=False, path_type=Path), required=True, help="A new file.")
@pass_command_context
def archive(context: CommandContext, older_than: timedelta, file: Path) -> None:
    """Export old entries as lines of JSON, and delete them behind a signed mark."""
    until: datetime = db.now() - older_than
    keys = keys_of(context)
    try:
        # The file is complete before the commit that deletes the entries.
        with db.transaction(context.engine) as dbsession, file.open("x", encoding="utf-8") as out:
            number = maintenance.archive(dbsession, keys, until, out.write).number
    except FileExistsError as error:
        raise click.ClickException(f"{file} exists already.") from error
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}. Nothing was archived.") from error
    except maintenance.NothingToDo as nothing:
        file.unlink()
        raise click.ClickException(str(nothing)) from nothing
    except Tampered as tampered:
        file.unlink()
        raise click.ClickException(f"The log was tampered with: {tampered}. Nothing was archived.") from tampered
    click.echo(f"The entries up to {number:,} are in {file}; the log goes on from there.")


@audit.command()
@pass_command_context
def checkpoint(context: CommandContext) -> None:
    """Print a signed checkpoint of the newest entry, to be stored elsewhere."""
    key = next(iter(keys_of(context).values()))
    with db.transaction(context.engine) as dbsession:
        head = dbsession.get(AuditHead, 1)
        assert head is not None  # the migration made it
        click.echo(checkpoints.make(key, head.number, head.mac, db.now()).line)
