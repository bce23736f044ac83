"""``groundtransport security``: the upkeep of the security log."""

from datetime import timedelta

import click

from groundtransport import db
from groundtransport.accounts import securitylog
from groundtransport.cli.office import Office, pass_office


@click.group()
def security() -> None:
    """Look after the security log."""


@security.command()
@pass_office
def prune(office: Office) -> None:
    """Remove events older than the ini's groundtransport.security_log_days."""
    office.check_migrated()
    days = office.settings.security_log_days
    with db.transaction(office.engine) as dbsession:
        number = securitylog.remove_until(dbsession, db.now() - timedelta(days=days))
    click.echo(f"{number:,} events older than {days} days were removed.")
