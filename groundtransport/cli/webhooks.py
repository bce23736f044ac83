"""``groundtransport webhooks``: deliver messages to webhooks in a process of its own."""

import signal
from types import FrameType

import click

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.webhooks.delivering import Deliverer, DeliveryLoop


@click.group()
def webhooks() -> None:
    """Deliver changes of records to webhooks."""


@webhooks.command()
@click.option("--once", is_flag=True, help="Deliver what is due, then exit.")
@pass_command_context
def deliver(context: CommandContext, once: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Deliver until SIGTERM or Ctrl+C. Several processes may run at once."""
    if once:
        click.echo(f"{Deliverer(context.registry).deliver_pending():,} messages were sent.")
        return
    loop = DeliveryLoop(context.registry)

    def end(number: int, frame: FrameType | None) -> None:
        loop.end()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    click.echo("Delivering to webhooks, until Ctrl+C or SIGTERM")
    loop.run()
