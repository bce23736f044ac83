"""The command ``groundtransport``. It writes records through the writer only, so its changes are audited."""

from pathlib import Path

import click

from groundtransport.cli.airports import airports
from groundtransport.cli.audit import audit
from groundtransport.cli.backup import backup
from groundtransport.cli.context import CommandContext
from groundtransport.cli.doubles import doubles
from groundtransport.cli.export import export
from groundtransport.cli.import_records import import_file
from groundtransport.cli.imports import imports
from groundtransport.cli.indexes import check, reindex
from groundtransport.cli.init import init
from groundtransport.cli.links import links
from groundtransport.cli.permissions import permissions
from groundtransport.cli.purge import purge
from groundtransport.cli.sample import sample
from groundtransport.cli.security import security
from groundtransport.cli.settings import print_settings
from groundtransport.cli.tokens import tokens
from groundtransport.cli.users import user
from groundtransport.cli.webhooks import webhooks
from groundtransport.cli.worker import worker


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


COMMANDS = (
    init,
    user,
    tokens,
    airports,
    import_file,
    export,
    sample,
    audit,
    backup,
    security,
    purge,
    permissions,
    print_settings,
    check,
    reindex,
    doubles,
    imports,
    worker,
    webhooks,
    links,
)
for command in COMMANDS:
    main.add_command(command)
