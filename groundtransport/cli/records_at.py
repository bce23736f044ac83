"""Records at airports that were renamed or withdrawn, for the commands that load airports."""

import click
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from groundtransport import db, kinds
from groundtransport.airports.models import Airport
from groundtransport.cli.context import CommandContext
from groundtransport.records import renaming


def rename_records(context: CommandContext) -> None:
    """Store the airport's present name in the live records of renamed airports, in one batch, and log each change.

    Each transaction changes a few records, so that their writers do not wait for long.
    """
    for kind in kinds.kinds().values():
        actor, number, ids = context.actor("airports"), 0, [0]
        while ids:
            with db.transaction(context.engine) as dbsession:
                ids = renaming.rename_some(dbsession, context.registry.notify, kind, actor, after=ids[-1])
            number += len(ids)
        if number:
            click.echo(f"{kind.name}: the airport's new name stored in {number:,} records")


def withdrawn_codes(dbsession: Session) -> list[str]:
    """Return the codes of the airports that the list lacks."""
    return list(dbsession.scalars(select(Airport.code).where(Airport.withdrawn_at.is_not(None)).order_by(Airport.code)))


def report_records(dbsession: Session, code: str) -> None:
    """Print the number of records at an airport that is no longer in the list. The records are not changed."""
    for kind in kinds.kinds().values():
        model = kind.model
        at_airport = select(func.count()).select_from(model).where(model.airport_code == code, model.is_live())
        number = dbsession.scalar(at_airport)
        if number:
            click.echo(f"{code} is no longer in the list: {number} {kind.plural.lower()} stand there.")
