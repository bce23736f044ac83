"""The command ``groundtransport``. It writes records through the writer only, so its changes are audited."""

from pathlib import Path

import click

from groundtransport.cli.airports import airports
from groundtransport.cli.audit import audit
from groundtransport.cli.context import CommandContext
from groundtransport.cli.import_records import import_file, sample
from groundtransport.cli.indexes import check, reindex
from groundtransport.cli.init import init
from groundtransport.cli.permissions import permissions
from groundtransport.cli.purge import purge
from groundtransport.cli.security import security
from groundtransport.cli.users import user


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="groundtransport")
@click.option(
    "-c",
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=Path("development.ini"),
    show_default=True,
    help="The ini file of the deployment.",
)
@click.pass_context
def main(context: click.Context, config: Path) -> None:
    """The Airport Ground-Transport Administration Service."""
    context.obj = CommandContext(config)


for command in (init, user, airports, import_file, sample, audit, security, purge, permissions, check, reindex):
    main.add_command(command)
