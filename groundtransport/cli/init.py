"""``groundtransport init``: everything a deployment needs before it serves. Safe to repeat, and quick then."""

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
def init(office: CommandContext) -> None:
    """Migrate the database, load airports and cities, make the first administrator."""
    try:
        with setup_lock(
            office.engine, lambda: click.echo("Another init of this database is at work; waiting for it ...")
        ):
            set_up(office)
    except DBAPIError as error:
        raise click.ClickException(f"The database refused: {error.orig}") from error


def set_up(office: CommandContext) -> None:
    migrate(office)
    with db.write_engine(office.engine).begin() as connection:
        protection.restore(connection, click.echo)
    load_places(office)
    make_administrator(office)
    seal_anew(office)
    renew_searches(office)
    fill_choices(office)


def migrate(office: CommandContext) -> None:
    """Apply every revision that the database lacks, ours and the deployment's own."""
    if migrations.current(office.engine) == migrations.heads(office.ini):
        return
    from alembic.util import CommandError

    click.echo("Migrating the database ...")
    try:
        migrations.upgrade(office.engine, ini=office.ini)
    except CommandError as error:
        raise click.ClickException(f"The database cannot be migrated: {error}") from error


def renew_searches(office: CommandContext) -> None:
    """Make anew what searches read of each kind whose declaration changed, or whose table lacks an index or trigger.

    Raises ClickException, after the others, for a kind whose table is missing.
    """
    lacking = []
    for kind in kinds.kinds().values():
        if not inspect(office.engine).has_table(kind.table):
            lacking.append(kind.table)
            continue
        with db.write_engine(db.index_build_engine(office.engine)).begin() as connection:
            if maintenance.needs_reindex(connection, kind):
                click.echo(f"Making the search texts, indexes and counters of {kind.name} anew ...")
                maintenance.reindex(connection, kind, lambda line: click.echo(f"  {line}"))
    if lacking:
        raise click.ClickException(
            f"No migration makes the table of {', '.join(lacking)}: "
            f"run alembic -c {office.ini} revision --autogenerate, then this again"
        )


def load_places(office: CommandContext) -> None:
    from groundtransport.airports import loading

    with db.transaction(office.engine) as dbsession:
        if not loading.airports_are_loaded(dbsession):
            click.echo("Loading the airports ...")
            done = loading.refresh_airports(dbsession, loading.packaged_airports())
            click.echo(f"  {len(done.added):,} airports")
        if not loading.cities_are_loaded(dbsession):
            click.echo("Loading the cities ...")
            click.echo(f"  {loading.load_cities(dbsession):,} cities (GeoNames, CC BY 4.0)")
            loading.note_populations(dbsession)


def seal_anew(office: CommandContext) -> None:
    """After the service's secret was rotated: what an old one sealed, so that the old one may be thrown away."""
    from groundtransport.accounts import secondfactor

    with db.transaction(office.engine) as dbsession:
        count = secondfactor.reseal(dbsession, office.settings.secrets)
    if count:
        click.echo(f"Second factors sealed under the newest secret: {count:,}")


def fill_choices(office: CommandContext) -> None:
    """Give live records without a value of a choice, as a save could leave them once, the default; log each change."""
    from groundtransport.kinds import kinds
    from groundtransport.records.list.query import choices
    from groundtransport.records.writer import Writer

    for kind in kinds().values():
        for name in choices(kind):
            lacking = select(kind.model).where(kind.model.is_live(), getattr(kind.model, name).is_(None))
            with db.transaction(office.engine) as dbsession:
                rows = dbsession.scalars(lacking.order_by(kind.model.id).with_for_update()).all()
                if not rows:
                    continue
                writer = Writer(dbsession, office.registry.notify, kind, office.actor("init"))
                for row in rows:
                    writer.update(row, {name: kind.fields[name].choices[0][0]})
            click.echo(f"{kind.name}: {len(rows):,} records without {name} were given the default")


def make_administrator(office: CommandContext) -> None:
    from groundtransport.accounts import passwords, users
    from groundtransport.cli.users import note
    from groundtransport.security import Role
    from groundtransport.security_log.events import Event

    chosen = os.environ.get("GROUNDTRANSPORT_ADMIN_PASSWORD", "")
    with db.transaction(office.engine) as dbsession:
        if users.has_administrator(dbsession):
            return
        password = chosen or passwords.generate()
        try:
            users.add(dbsession, FIRST, Role.ADMINISTRATOR, password, one_time=not chosen)
        except passwords.PasswordRefused as refused:
            raise click.ClickException(f"GROUNDTRANSPORT_ADMIN_PASSWORD: {refused}") from refused
        except users.UserRefused as refused:
            raise click.ClickException(f"{refused} Give them the role: user role {FIRST} administrator") from refused
    note(office, Event.USER_ADDED, FIRST, role=Role.ADMINISTRATOR)
    click.echo(f"\n  The first administrator: {FIRST}")
    click.echo("  Password: as in GROUNDTRANSPORT_ADMIN_PASSWORD\n" if chosen else f"  One-time password: {password}\n")
