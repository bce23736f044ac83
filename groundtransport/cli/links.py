"""``groundtransport links``: check the links of records, for cron or a timer of systemd."""

import signal
from datetime import timedelta
from types import FrameType

import click

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.links.checking import LinkChecker
from groundtransport.records.links import link_fields


@click.group()
def links() -> None:
    """Check the links of records."""


@links.command()
@click.argument("kind", required=False)
@click.option("--limit", type=click.IntRange(1), help="Check at most so many different links.")
@click.option(
    "--older-than",
    "days",
    type=click.FloatRange(0, 3650),
    default=30,
    show_default=True,
    help="Check links whose last result is older than so many days; one that failed, after a day.",
)
@pass_command_context
def check(context: CommandContext, kind: str | None, limit: int | None, days: float) -> None:
    """Check the links of a KIND, or of all kinds, that were not checked lately.

    The results are shown beside the records, which stay as they are. Several processes may run at once.
    """
    kinds = [name for name, each in context.registry["kinds"].items() if link_fields(each)]
    if kind is not None and kind not in kinds:
        raise click.BadParameter(f"{kind} is no kind with links: {', '.join(kinds)}", param_hint="KIND")
    checker = LinkChecker(context.registry)

    def end(number: int, frame: FrameType | None) -> None:
        checker.ending.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    states = checker.check_due(timedelta(days=days), kind, limit)
    click.echo(f"{states.total():,} links were checked.")
    for state, count in sorted(states.items()):
        click.echo(f"  {state}: {count:,}")
