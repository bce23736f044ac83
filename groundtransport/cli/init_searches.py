"""The step of ``groundtransport init`` that renews what searches read, where a declaration or a rule has changed."""

import click
from sqlalchemy import inspect

from groundtransport import db, kinds
from groundtransport.audit import search_texts
from groundtransport.cli.context import CommandContext
from groundtransport.records import maintenance, renewing
from groundtransport.records.kind import Kind
from groundtransport.records.search import layout


def renew_searches(context: CommandContext, *, all_kinds: bool) -> None:
    """Renew the search texts of each kind whose declaration changed; of ``all_kinds`` if told so.

    Rebuild all search data of a kind whose table lacks an index or trigger; its writers wait meanwhile. Raise
    ClickException, after all other kinds, if a kind has no table or lacks a column.
    """
    lacking = []
    for kind in kinds.kinds().values():
        if missing := missing_columns(context, kind):
            lacking.append(missing)
        else:
            renew_kind(context, kind, is_due=all_kinds)
    if lacking:
        raise click.ClickException(
            f"No migration creates {'; '.join(lacking)}: "
            f"run alembic -c {context.ini} revision --autogenerate, then this again"
        )


def renew_kind(context: CommandContext, kind: Kind, *, is_due: bool) -> None:
    """Renew what searches of one kind read, if it is wrong or ``is_due``."""
    with context.engine.connect() as connection:
        lacks_parts = maintenance.lacks_parts(connection, kind)
        is_outdated = bool(layout.outdated(connection, [kind]))
    if lacks_parts:
        rebuild(context, kind)
    elif is_outdated or is_due:
        renew_texts(context, kind)


def rebuild(context: CommandContext, kind: Kind) -> None:
    """Rebuild the search texts, indexes and counters of a kind in one transaction, which holds writers up."""
    click.echo(f"Rebuilding the search texts, indexes and counters of {kind.name} ...")
    with db.write_engine(db.index_build_engine(context.engine)).begin() as connection:
        maintenance.reindex(connection, kind, lambda line: click.echo(f"  {line}"))


def renew_texts(context: CommandContext, kind: Kind) -> None:
    """Renew the search texts of a kind beside running writers."""
    done = 0
    for done in renewing.renew(context.engine, kind):
        if done % 100_000 == 0:
            click.echo(f"  {kind.name}: {done:,} search texts renewed")
    if done:
        click.echo(f"{kind.name}: {done:,} search texts renewed.")


def missing_columns(context: CommandContext, kind: Kind) -> str:
    """Return what of a kind's table is not in the database: the table, or columns; "" if it is whole."""
    inspector = inspect(context.engine)
    if not inspector.has_table(kind.table):
        return f"the table of {kind.table}"
    stored = {column["name"] for column in inspector.get_columns(kind.table)}
    missing = [column.name for column in kind.model.__table__.columns if column.name not in stored]
    return f"the columns {', '.join(missing)} of {kind.table}" if missing else ""


def renew_log_searches(context: CommandContext, *, is_due: bool) -> None:
    """Renew the search texts of the activity log beside running writers, if the rules of folding changed or told so."""
    with context.engine.connect() as connection:
        is_outdated = search_texts.is_outdated(connection)
    if (is_outdated or is_due) and (renewed := search_texts.renew(context.engine)):
        click.echo(f"The activity log: {renewed:,} search texts renewed.")
