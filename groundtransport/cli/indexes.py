"""``groundtransport check`` and ``reindex``: verify and rebuild search texts, search indexes and counters."""

from collections.abc import Iterable

import click

from groundtransport import db
from groundtransport.audit import protection, search_texts
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.records import maintenance


@click.command()
@pass_command_context
def check(context: CommandContext) -> None:
    """Compare the counters, search texts and search indexes with the records, and verify the triggers of the logs.

    Exit with 1 if something is wrong.
    """
    wrong = 0
    kinds = context.registry["kinds"]
    for kind in kinds.values():
        # Without a commit: the check's transaction is rolled back.
        with db.write_engine(db.index_build_engine(context.engine)).connect() as connection:
            wrong += print_lines(maintenance.check(connection, kind))
    with context.engine.connect() as connection:
        wrong += print_lines(search_texts.check(connection))
        unprotected = print_lines(protection.check(connection))
    if wrong:
        click.echo("Repair it by: groundtransport reindex")
    if unprotected:
        click.echo("Put the triggers back by: groundtransport init")
    if wrong or unprotected:
        raise SystemExit(1)
    click.echo("The counters, the search texts, the search index and the triggers of the logs are right.")


def print_lines(messages: Iterable[str]) -> int:
    """Print messages, and return their number."""
    lines = list(messages)
    for line in lines:
        click.echo(line)
    return len(lines)


@click.command()
@click.argument("kinds", nargs=-1)
@pass_command_context
def reindex(context: CommandContext, kinds: tuple[str, ...]) -> None:
    """Rebuild the search texts, search indexes and counters of KINDS; by default of all kinds and the activity log."""
    all_kinds = context.registry["kinds"]
    for name in kinds:
        if name not in all_kinds:
            raise click.BadParameter(f"{name} is none of {', '.join(all_kinds)}", param_hint="KINDS")
    for name in kinds or all_kinds:
        with db.write_engine(db.index_build_engine(context.engine)).begin() as connection:
            stale = maintenance.reindex(connection, all_kinds[name], click.echo)
        click.echo(f"{name}: done; {stale:,} search texts were wrong.")
    if not kinds:
        stale = search_texts.renew(context.engine)
        click.echo(f"the activity log: done; {stale:,} search texts were wrong.")
