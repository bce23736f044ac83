"""``groundtransport init``: set up or upgrade a deployment. Can be repeated safely, and is fast if nothing changed."""

import os

import click
from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from groundtransport import db, kinds
from groundtransport.audit import protection
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.db import migrations
from groundtransport.db.setup_lock import setup_lock
from groundtransport.records import maintenance

FIRST = "admin"


@click.command()
@pass_command_context
def init(context: CommandContext) -> None:
    """Migrate the database, load airports and cities, and add the first administrator."""
    try:
        with setup_lock(
            context.engine, lambda: click.echo("Another init of this database is at work; waiting for it ...")
        ):
            set_up(context)
    except DBAPIError as error:
        raise click.ClickException(f"The database refused: {error.orig}") from error


def set_up(context: CommandContext) -> None:
    migrate(context)
    with db.write_engine(context.engine).begin() as connection:
        protection.restore(connection, click.echo)
    load_places(context)
    make_administrator(context)
    reseal_second_factors(context)
    renew_searches(context)
    fill_choices(context)


def migrate(context: CommandContext) -> None:
    """Apply all missing revisions, those of the package and the deployment's own."""
    if migrations.current(context.engine) == migrations.heads(context.ini):
        return
    from alembic.util import CommandError

    click.echo("Migrating the database ...")
    try:
        migrations.upgrade(context.engine, ini=context.ini)
    except CommandError as error:
        raise click.ClickException(f"The database cannot be migrated: {error}") from error


def renew_searches(context: CommandContext) -> None:
    """Rebuild the search data of each kind whose declaration changed, or whose table lacks an index or trigger.

    Raise ClickException, after all other kinds, if a kind has no table.
    """
    missing_tables = []
    for kind in kinds.kinds().values():
        if not inspect(context.engine).has_table(kind.table):
            missing_tables.append(kind.table)
            continue
        with db.write_engine(db.index_build_engine(context.engine)).begin() as connection:
            if maintenance.needs_reindex(connection, kind):
                click.echo(f"Making the search texts, indexes and counters of {kind.name} anew ...")
                maintenance.reindex(connection, kind, lambda line: click.echo(f"  {line}"))
    if missing_tables:
        raise click.ClickException(
            f"No migration creates the table of {', '.join(missing_tables)}: "
            f"run alembic -c {context.ini} revision --autogenerate, then this again"
        )


def load_places(context: CommandContext) -> None:
    from groundtransport.airports import loading

    with db.transaction(context.engine) as dbsession:
        if not loading.airports_are_loaded(dbsession):
            click.echo("Loading the airports ...")
            result = loading.refresh_airports(dbsession, loading.packaged_airports())
            click.echo(f"  {len(result.added):,} airports")
        if not loading.cities_are_loaded(dbsession):
            click.echo("Loading the cities ...")
            click.echo(f"  {loading.load_cities(dbsession):,} cities (GeoNames, CC BY 4.0)")
            loading.note_populations(dbsession)


def reseal_second_factors(context: CommandContext) -> None:
    """Re-encrypt the second factors with the newest secret, so that the old secret is no longer needed."""
    from groundtransport.accounts import secondfactor

    with db.transaction(context.engine) as dbsession:
        count = secondfactor.reseal(dbsession, context.settings.secrets)
    if count:
        click.echo(f"Second factors sealed under the newest secret: {count:,}")


def fill_choices(context: CommandContext) -> None:
    """Set empty choice fields of live records, which earlier releases allowed, to the default; log each change."""
    from groundtransport.kinds import kinds
    from groundtransport.records.list.query import choices
    from groundtransport.records.writer import Writer

    for kind in kinds().values():
        for name in choices(kind):
            without_value = select(kind.model).where(kind.model.is_live(), getattr(kind.model, name).is_(None))
            with db.transaction(context.engine) as dbsession:
                rows = dbsession.scalars(without_value.order_by(kind.model.id).with_for_update()).all()
                if not rows:
                    continue
                writer = Writer(dbsession, context.registry.notify, kind, context.actor("init"))
                for row in rows:
                    writer.update(row, {name: kind.fields[name].choices[0][0]})
            click.echo(f"{kind.name}: {len(rows):,} records without {name} were given the default")


def make_administrator(context: CommandContext) -> None:
    from groundtransport.accounts import passwords, users
    from groundtransport.cli.users import log_event
    from groundtransport.security import Role
    from groundtransport.security_log.events import Event

    chosen = os.environ.get("GROUNDTRANSPORT_ADMIN_PASSWORD", "")
    with db.transaction(context.engine) as dbsession:
        if users.has_administrator(dbsession):
            return
        password = chosen or passwords.generate()
        try:
            users.add(dbsession, FIRST, Role.ADMINISTRATOR, password, one_time=not chosen)
        except passwords.PasswordRefused as refused:
            raise click.ClickException(f"GROUNDTRANSPORT_ADMIN_PASSWORD: {refused}") from refused
        except users.UserRefused as refused:
            raise click.ClickException(f"{refused} Give them the role: user role {FIRST} administrator") from refused
    log_event(context, Event.USER_ADDED, FIRST, role=Role.ADMINISTRATOR)
    click.echo(f"\n  The first administrator: {FIRST}")
    click.echo("  Password: as in GROUNDTRANSPORT_ADMIN_PASSWORD\n" if chosen else f"  One-time password: {password}\n")
