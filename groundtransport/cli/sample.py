"""``groundtransport sample``: create realistic records, as one batch of the audit log."""

import click

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.import_records import kind_of, update_statistics
from groundtransport.transfer import samples
from groundtransport.transfer.importer import Importer


@click.command()
@click.argument("kind_name", metavar="KIND")
@click.option("--records", type=click.IntRange(1), default=1000, show_default=True, help="Number of records.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same records.")
@pass_command_context
def sample(context: CommandContext, kind_name: str, records: int, seed: int) -> None:
    """Create realistic records at real airports."""
    kind = kind_of(context, kind_name)
    with db.transaction(context.engine) as dbsession:
        sampler = samples.Sampler(dbsession, kind, seed)
    importer = Importer(context.registry, kind, context.actor("sample"))
    with click.progressbar(importer.run(sampler.rows(records)), length=records, label="Writing") as bar:
        refused = ""
        for _, error in bar:
            refused = refused or error
    report(importer)
    update_statistics(context, kind, importer.counts.created)
    if refused:
        raise click.ClickException(f"The first error: {refused}")


def report(importer: Importer) -> None:
    """Print the numbers of created and refused rows and of doubtful values."""
    counts = importer.counts
    click.echo(f"{counts.created:,} created, {counts.refused:,} refused, as batch {importer.actor.batch}.")
    if counts.doubtful:
        click.echo(f"{counts.doubtful:,} doubtful values were saved; the first: {counts.first_warning}")
