"""``groundtransport check`` and ``reindex``: what lists read besides the records, compared and made anew."""

import click

from groundtransport import db
from groundtransport.cli.office import Office, pass_office
from groundtransport.records import upkeep


@click.command()
@pass_office
def check(office: Office) -> None:
    """Compare the counters, the search texts and the search index with the records. Ends with 1 if one is wrong."""
    wrong = 0
    for kind in office.registry["kinds"].values():
        # A transaction that is rolled back.
        with db.writing(db.indexing(office.engine)).connect() as connection:
            for finding in upkeep.check(connection, kind):
                click.echo(finding)
                wrong += 1
    if wrong:
        click.echo("Repair it by: groundtransport reindex")
        raise SystemExit(1)
    click.echo("The counters, the search texts and the search index are right.")


@click.command()
@click.argument("kinds", nargs=-1)
@pass_office
def reindex(office: Office, kinds: tuple[str, ...]) -> None:
    """Make the search texts, the search index and the counters anew; of KINDS, or of all."""
    known = office.registry["kinds"]
    for name in kinds:
        if name not in known:
            raise click.BadParameter(f"{name} is none of {', '.join(known)}", param_hint="KINDS")
    for name in kinds or known:
        with db.writing(db.indexing(office.engine)).begin() as connection:
            stale = upkeep.reindex(connection, known[name], click.echo)
        click.echo(f"{name}: done; {stale:,} search texts were wrong.")
