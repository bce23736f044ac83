"""The command ``groundtransport``. Every record it writes goes through the one writer, so scripts are audited too."""

from pathlib import Path

import click

from groundtransport.cli.airports import airports
from groundtransport.cli.audit import audit
from groundtransport.cli.importing import import_file, sample
from groundtransport.cli.office import Office
from groundtransport.cli.permissions import permissions
from groundtransport.cli.purge import purge
from groundtransport.cli.security import security
from groundtransport.cli.setup import init
from groundtransport.cli.upkeep import check, reindex
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
    context.obj = Office(config)


for command in (init, user, airports, import_file, sample, audit, security, purge, permissions, check, reindex):
    main.add_command(command)
