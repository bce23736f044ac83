"""``groundtransport security``: maintain the security log."""

from datetime import timedelta

import click

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.security_log import verification
from groundtransport.signing import Tampered, keyring


@click.group()
def security() -> None:
    """Maintain the security log."""


@security.command()
@pass_command_context
def prune(context: CommandContext) -> None:
    """Remove events older than the setting groundtransport.security_log_days."""
    context.check_migrated()
    days = context.settings.security_log_days
    keys = keyring(context.settings.audit_secrets)
    try:
        with db.transaction(context.engine) as dbsession:
            number = verification.prune(dbsession, keys, db.now() - timedelta(days=days), context.actor("prune").name)
    except Tampered as tampered:
        raise click.ClickException(f"The log was tampered with: {tampered}. Nothing was removed.") from tampered
    click.echo(f"{number:,} events older than {days} days were removed.")
