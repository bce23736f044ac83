"""The step of ``groundtransport init`` that gives records without a choice the default, as forms do today."""

import click
from sqlalchemy import select

from groundtransport import db, kinds
from groundtransport.cli.context import CommandContext
from groundtransport.events import Actor
from groundtransport.records.kind import Kind, single_choice_fields
from groundtransport.records.writer import Writer

AT_ONCE = 100  # records of one transaction, whose writers wait for it


def fill_choices(context: CommandContext) -> None:
    """Set empty choice fields of live records, which earlier releases allowed, to the default; log each change."""
    for kind in kinds.kinds().values():
        for name in single_choice_fields(kind):
            if kind.fields[name].empty() is None:  # no value is a value: a yes/no field is unknown
                continue
            actor, number, ids = context.actor("init"), 0, [0]
            while ids:
                ids = fill_some(context, kind, name, actor, after=ids[-1])
                number += len(ids)
            if number:
                click.echo(f"{kind.name}: {number:,} records without {name} were given the default")


def fill_some(context: CommandContext, kind: Kind, name: str, actor: Actor, after: int) -> list[int]:
    """Fill the field of the first AT_ONCE records without it whose id is greater than ``after``; return their ids."""
    model = kind.model
    empty = select(model).where(model.is_live(), getattr(model, name).is_(None), model.id > after)
    with db.transaction(context.engine) as dbsession:
        rows = dbsession.scalars(empty.order_by(model.id).limit(AT_ONCE).with_for_update()).all()
        writer = Writer(dbsession, context.registry.notify, kind, actor)
        for row in rows:
            writer.update(row, {name: kind.fields[name].empty()})
        return [row.id for row in rows]
