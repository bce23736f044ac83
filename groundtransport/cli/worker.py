"""``groundtransport worker``: execute background jobs in a process of its own."""

import signal
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import click

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.jobs.runner import Runner


@click.command()
@click.option("--once", is_flag=True, help="Execute the jobs that are due, then exit.")
@pass_command_context
def worker(context: CommandContext, once: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Execute background jobs, such as imports, until SIGTERM or Ctrl+C.

    Several workers may run at once, beside servers whose ini says ``groundtransport.jobs = worker``.
    """
    runner = Runner(context.registry)
    if once:
        click.echo(f"{runner.run_pending():,} jobs were executed.")
        return

    def end(number: int, frame: FrameType | None) -> None:
        runner.end()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    click.echo(f"Executing jobs as {runner.owner}, until Ctrl+C or SIGTERM")
    # In another thread: the handler of a signal would wait for ever for a lock of an event that its own thread holds.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(runner.run).result()
