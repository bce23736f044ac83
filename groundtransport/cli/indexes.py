"""``groundtransport check`` and ``reindex``: what lists read besides the records, compared and made anew."""

from collections.abc import Iterable

import click

from groundtransport import db
from groundtransport.audit import protection, search_texts
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.records import maintenance


@click.command()
@pass_command_context
def check(office: CommandContext) -> None:
    """Compare counters, search texts and search index with the records; look for the triggers of the logs.

    Ends with 1 if something is wrong.
    """
    wrong = 0
    kinds = office.registry["kinds"]
    for kind in kinds.values():
        # A transaction that is rolled back.
        with db.write_engine(db.index_build_engine(office.engine)).connect() as connection:
            wrong += tell(maintenance.check(connection, kind))
    with office.engine.connect() as connection:
        wrong += tell(search_texts.check(connection))
        unprotected = tell(protection.check(connection))
    if wrong:
        click.echo("Repair it by: groundtransport reindex")
    if unprotected:
        click.echo("Put the triggers back by: groundtransport init")
    if wrong or unprotected:
        raise SystemExit(1)
    click.echo("The counters, the search texts, the search index and the triggers of the logs are right.")


def tell(findings: Iterable[str]) -> int:
    """Print findings, and return their number."""
    lines = list(findings)
    for line in lines:
        click.echo(line)
    return len(lines)


@click.command()
@click.argument("kinds", nargs=-1)
@pass_command_context
def reindex(office: CommandContext, kinds: tuple[str, ...]) -> None:
    """Make the search texts, the search index and the counters anew; of KINDS, or of all and the activity log."""
    known = office.registry["kinds"]
    for name in kinds:
        if name not in known:
            raise click.BadParameter(f"{name} is none of {', '.join(known)}", param_hint="KINDS")
    for name in kinds or known:
        with db.write_engine(db.index_build_engine(office.engine)).begin() as connection:
            stale = maintenance.reindex(connection, known[name], click.echo)
        click.echo(f"{name}: done; {stale:,} search texts were wrong.")
    if not kinds:
        with db.write_engine(office.engine).begin() as connection:
            stale = search_texts.renew(connection)
        click.echo(f"the activity log: done; {stale:,} search texts were wrong.")
