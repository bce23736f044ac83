"""``groundtransport security``: the upkeep of the security log."""

from datetime import timedelta

import click

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.security_log import verification
from groundtransport.signing import Tampered, keyring


@click.group()
def security() -> None:
    """Look after the security log."""


@security.command()
@pass_command_context
def prune(office: CommandContext) -> None:
    """Remove events older than the ini's groundtransport.security_log_days."""
    office.check_migrated()
    days = office.settings.security_log_days
    keys = keyring(office.settings.audit_secrets)
    try:
        with db.transaction(office.engine) as dbsession:
            number = verification.prune(dbsession, keys, db.now() - timedelta(days=days), office.actor("prune").name)
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}. Nothing was removed.") from tampered
    click.echo(f"{number:,} events older than {days} days were removed.")
