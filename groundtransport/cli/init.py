"""``groundtransport init``: set up or upgrade a deployment. Can be repeated safely, and is fast if nothing changed."""

import click
from sqlalchemy.exc import DBAPIError

from groundtransport import db, kinds
from groundtransport.audit import protection
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.doubles import build_pairs
from groundtransport.cli.init_choices import fill_choices
from groundtransport.cli.init_numbers import continue_numbers
from groundtransport.cli.init_searches import renew_log_searches, renew_searches
from groundtransport.cli.records_at import rename_records
from groundtransport.db import compatibility, migrations
from groundtransport.db.revisions import CONTRACT, EXPAND
from groundtransport.db.setup_lock import setup_lock
from groundtransport.i18n import translated
from groundtransport.records.duplicates import building
from groundtransport.records.readiness import why_not_ready
from groundtransport.settings import secret_of

FIRST = "admin"


CHECK = "check"
HELP = {
    "expand": "Do what processes of the release before can work with: run it before they are replaced.",
    "contract": "Do the rest: run it when all processes of the release before are replaced.",
    "check": "Change nothing: exit with 1, and say why, if the service could not work with the database.",
}


@click.command()
@click.option("--expand", "phase", flag_value=EXPAND, help=HELP["expand"])
@click.option("--contract", "phase", flag_value=CONTRACT, help=HELP["contract"])
@click.option("--check", "phase", flag_value=CHECK, help=HELP["check"])
@pass_command_context
def init(context: CommandContext, phase: str | None) -> None:
    """Migrate the database, load airports and cities, and add the first administrator."""
    try:
        if phase == CHECK:
            check(context)
            return
        with setup_lock(
            context.engine, lambda: click.echo("Another init of this database is at work; waiting for it ...")
        ):
            set_up(context, phase)
    except DBAPIError as error:
        raise click.ClickException(f"The database refused: {error.orig}") from error


def check(context: CommandContext) -> None:
    """Print "ready"; raise ClickException if ``/readyz`` would give a reason for 503."""
    if reason := why_not_ready(context.engine, migrations.schema(context.ini), kinds.kinds().values()):
        raise click.ClickException(translated(reason))
    click.echo("ready")


def set_up(context: CommandContext, phase: str | None) -> None:
    """Run every step of ``init``; the caller holds the set-up lock."""
    schema, state = migrations.schema(context.ini), compatibility.state_of(context.engine)
    if schema.unknown(state.current):
        if reason := compatibility.why_incompatible(state, schema):
            raise click.ClickException(translated(reason))
        click.echo("A newer release has set up this database: nothing to do.")
        return
    migrate(context, schema.expanded if phase == EXPAND else schema.heads, schema.applied(state.current))
    with db.write_engine(context.engine).begin() as connection:
        protection.restore(connection, click.echo)
    load_places(context)
    make_administrator(context)
    reseal_second_factors(context)
    reseal_webhooks(context)
    renew_searches(context, all_kinds=phase == CONTRACT)
    renew_log_searches(context, is_due=phase == CONTRACT)
    continue_numbers(context)
    fill_choices(context)
    compare_records(context)


def migrate(context: CommandContext, revisions: frozenset[str], applied: frozenset[str]) -> None:
    """Apply the missing of ``revisions``, those of the package and the deployment's own."""
    missing = sorted(revisions - applied)
    if not missing:
        return
    from alembic.util import CommandError

    click.echo("Migrating the database ...")
    try:
        for revision in missing:
            migrations.upgrade(context.engine, revision, ini=context.ini)
    except CommandError as error:
        raise click.ClickException(f"The database cannot be migrated: {error}") from error


def load_places(context: CommandContext) -> None:
    """Load airports and cities, or apply newer corrections to them."""
    from groundtransport.airports import loading, source

    with db.transaction(context.engine) as dbsession:
        if not loading.airports_are_loaded(dbsession):
            click.echo("Loading the airports ...")
            result = loading.refresh_airports(dbsession, source.packaged_airports())
            click.echo(f"  {len(result.added) + loading.add_missing(dbsession):,} airports")
            loading.note_corrected(dbsession)
        if not loading.cities_are_loaded(dbsession):
            click.echo("Loading the cities ...")
            click.echo(f"  {loading.load_cities(dbsession):,} cities (GeoNames, CC BY 4.0)")
        if not loading.small_cities_are_loaded(dbsession):
            click.echo("Loading the small cities ...")
            click.echo(f"  {loading.load_small_cities(dbsession):,} small cities (GeoNames, CC BY 4.0)")
        if loading.are_corrected(dbsession):
            return
        click.echo("Correcting the airports ...")
        changed, added = loading.correct_airports(dbsession), loading.add_missing(dbsession)
        loading.note_cities(dbsession, loading.geonames_cities())
        loading.note_corrected(dbsession)
        click.echo(f"  {added:,} added, {changed:,} changed")
    rename_records(context)


def reseal_second_factors(context: CommandContext) -> None:
    """Re-encrypt the second factors with the newest secret, so that the old secret is no longer needed."""
    from groundtransport.accounts import secondfactor

    with db.transaction(context.engine) as dbsession:
        count = secondfactor.reseal(dbsession, context.settings.secrets)
    if count:
        click.echo(f"Second factors sealed under the newest secret: {count:,}")


def reseal_webhooks(context: CommandContext) -> None:
    """Re-encrypt the secrets of webhooks with the newest secret, so that the old secret is no longer needed."""
    from groundtransport.webhooks import subscriptions

    with db.transaction(context.engine) as dbsession:
        count = subscriptions.reseal(dbsession, context.settings.secrets)
    if count:
        click.echo(f"Webhooks sealed under the newest secret: {count:,}")


def compare_records(context: CommandContext) -> None:
    """Make the pairs of possible doubles of each kind for which it was not done, or by an earlier rule."""
    for kind in kinds.kinds().values():
        if building.is_outdated(context.engine, kind):
            build_pairs(context, kind)


def make_administrator(context: CommandContext) -> None:
    """Create the first administrator, unless there is one, and print a generated password once."""
    from groundtransport.accounts import passwords, users
    from groundtransport.cli.users import log_event
    from groundtransport.security import Role
    from groundtransport.security_log.events import Event

    chosen = secret_of("GROUNDTRANSPORT_ADMIN_PASSWORD")
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
