"""``groundtransport audit``: is the log whole, does it agree with the records, and its upkeep."""

from datetime import datetime, timedelta
from pathlib import Path

import click
from sqlalchemy.orm import Session

from groundtransport import db, kinds
from groundtransport.audit import checkpoints, maintenance, protection
from groundtransport.audit.models import AuditHead
from groundtransport.audit.reconcile import reconcile as find_disagreements
from groundtransport.audit.verify import verify as walk
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.param_types import Age
from groundtransport.security_log import verification
from groundtransport.signing import Key, Tampered, keyring


def keys_of(office: CommandContext) -> dict[str, Key]:
    office.check_migrated()
    return keyring(office.settings.audit_secrets)


def at_one_moment(office: CommandContext) -> Session:
    """Return a session that sees what was committed at one moment, and that no writer waits for."""
    is_sqlite = office.engine.dialect.name == "sqlite"  # its transactions are like that
    return Session(office.engine if is_sqlite else office.engine.execution_options(isolation_level="REPEATABLE READ"))


@click.group()
def audit() -> None:
    """Look after the activity log."""


@audit.command()
@click.option(
    "--checkpoints",
    "log",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A process log: the checkpoints in it must be part of the chain, too.",
)
@pass_command_context
def verify(office: CommandContext, log: Path | None) -> None:
    """Walk the whole chain and look for the triggers; name the first bad entry and exit with 1."""
    try:
        found = list(checkpoints.read(log.read_text(errors="replace").splitlines())) if log else []
    except (ValueError, TypeError) as error:
        raise click.ClickException(f"{log}: a checkpoint cannot be read") from error
    try:
        with at_one_moment(office) as dbsession:
            result = walk(dbsession, keys_of(office), found)
            count = verification.verify(dbsession, keys_of(office))
            unprotected = list(protection.check(dbsession.connection()))
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}.") from tampered
    if unprotected:
        raise click.ClickException("\n".join([*unprotected, "Put the triggers back by: groundtransport init"]))
    seen = f", {result.checkpoints:,} checkpoints" if log else ""
    click.echo(f"{result.entries:,} entries verified, up to number {result.head:,}{seen}; {count:,} security events.")


@audit.command()
@pass_command_context
def reconcile(office: CommandContext) -> None:
    """Compare the log with the records and the people; list where they disagree and exit with 1."""
    office.check_migrated()
    with at_one_moment(office) as dbsession:
        found = find_disagreements(dbsession, kinds.kinds())
    for line in found:
        click.echo(line)
    if found:
        raise click.ClickException(f"{len(found)} disagreements between the log and the database.")
    click.echo("The log agrees with the records and the people.")


@audit.command("rotate-key")
@pass_command_context
def rotate_key(office: CommandContext) -> None:
    """Vouch with the new GROUNDTRANSPORT_AUDIT_SECRET for what the one in ..._OLD signed."""
    try:
        with db.transaction(office.engine) as dbsession:
            if verification.reseal(dbsession, keys_of(office), office.actor("rotate").name):
                click.echo("It vouches for the security log, too.")
        with db.transaction(office.engine) as dbsession:
            mark = maintenance.rotate_key(dbsession, keys_of(office))
            click.echo(f"The key {mark.key_id} vouches for the entries up to {mark.number:,}.")
    except maintenance.NothingToDo as nothing:
        click.echo(str(nothing))
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}. Nothing was signed.") from tampered


@audit.command()
@click.option("--older-than", type=Age(), required=True, help="Such as 365d, 52w or 1y.")
@click.option("--to", "file", type=click.Path(dir_okay=False, path_type=Path), required=True, help="A new file.")
@pass_command_context
def archive(office: CommandContext, older_than: timedelta, file: Path) -> None:
    """Export old entries as lines of JSON, and cut the log behind a signed mark."""
    until: datetime = db.now() - older_than
    keys = keys_of(office)
    try:
        # The file is complete before the entries are gone: the commit comes last.
        with db.transaction(office.engine) as dbsession, file.open("x", encoding="utf-8") as out:
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
def checkpoint(office: CommandContext) -> None:
    """Print a signed checkpoint of the head, to be kept elsewhere."""
    key = next(iter(keys_of(office).values()))
    with db.transaction(office.engine) as dbsession:
        head = dbsession.get(AuditHead, 1)
        assert head is not None  # the migration made it
        click.echo(checkpoints.make(key, head.number, head.mac, db.now()).line)
