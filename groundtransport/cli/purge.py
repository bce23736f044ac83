"""``groundtransport purge``: what was deleted long ago leaves for good. Asks first; each record is in the log."""

from datetime import timedelta
from typing import Any

import click
from sqlalchemy import func, select

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.param_types import Age
from groundtransport.records.list.query import can_restore
from groundtransport.records.writer import Writer

CHUNK = 200  # records a transaction


@click.command()
@click.option("--older-than", type=Age(), required=True, help="Deleted at least so long ago: 90d, 12w or 1y.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_command_context
def purge(office: CommandContext, older_than: timedelta, yes: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Remove records for good that were deleted long ago."""
    until = db.now() - older_than
    kinds = [kind for kind in office.registry["kinds"].values() if can_restore(kind)]
    with db.transaction(office.engine) as dbsession:
        numbers = [dbsession.scalar(select(func.count()).select_from(_old(kind, until).subquery())) for kind in kinds]
    if not any(numbers):
        click.echo("Nothing was deleted as long ago as that.")
        return
    what = ", ".join(f"{number:,} {kind.plural.lower()}" for kind, number in zip(kinds, numbers, strict=True) if number)
    if not yes:
        click.confirm(f"Remove for good, with no way back: {what}?", abort=True)
    actor = office.actor("purge")
    done = sum(_purge(office, kind, until, actor) for kind in kinds)
    click.echo(f"{done:,} records were removed, as batch {actor.batch}.")


def _old(kind: Any, until: Any) -> Any:
    return select(kind.model).where(kind.model.deleted_at < until)


def _purge(office: CommandContext, kind: Any, until: Any, actor: Any) -> int:
    done = 0
    while True:
        with db.transaction(office.engine) as dbsession:
            writer = Writer(dbsession, office.registry.notify, kind, actor)
            records = dbsession.scalars(_old(kind, until).order_by(kind.model.id).limit(CHUNK).with_for_update()).all()
            for record in records:
                writer.purge(record)
        done += len(records)
        if len(records) < CHUNK:
            return done
