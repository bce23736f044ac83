"""``groundtransport purge``: remove old deleted records permanently, after confirmation. Each removal is logged."""

from datetime import datetime, timedelta

import click
from sqlalchemy import Select, func, select

from groundtransport import db
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.param_types import Age
from groundtransport.events import Actor
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import can_restore
from groundtransport.records.model import RecordColumns
from groundtransport.records.writer import Writer

CHUNK = 200  # records per transaction


@click.command()
@click.option("--older-than", type=Age(), required=True, help="The least time since the deletion: 90d, 12w or 1y.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_command_context
def purge(context: CommandContext, older_than: timedelta, yes: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Remove records permanently that were deleted long ago."""
    until = db.now() - older_than
    kinds = [kind for kind in context.registry["kinds"].values() if can_restore(kind)]
    with db.transaction(context.engine) as dbsession:
        numbers = [dbsession.scalar(select(func.count()).select_from(_old(kind, until).subquery())) for kind in kinds]
    if not any(numbers):
        click.echo("Nothing to remove: no deleted record is that old.")
        return
    what = ", ".join(f"{number:,} {kind.plural.lower()}" for kind, number in zip(kinds, numbers, strict=True) if number)
    if not yes:
        click.confirm(f"Remove permanently: {what}? This cannot be undone.", abort=True)
    actor = context.actor("purge")
    count = sum(_purge(context, kind, until, actor) for kind in kinds)
    click.echo(f"{count:,} records were removed, as batch {actor.batch}.")


def _old(kind: Kind, until: datetime) -> Select[RecordColumns]:
    return select(kind.model).where(kind.model.__table__.c.deleted_at < until)


def _purge(context: CommandContext, kind: Kind, until: datetime, actor: Actor) -> int:
    count = 0
    while True:
        with db.transaction(context.engine) as dbsession:
            writer = Writer(dbsession, context.registry.notify, kind, actor)
            records = dbsession.scalars(_old(kind, until).order_by(kind.model.id).limit(CHUNK).with_for_update()).all()
            for record in records:
                writer.purge(record)
        count += len(records)
        if len(records) < CHUNK:
            return count
