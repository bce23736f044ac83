"""``groundtransport airports``: refresh the list of airports, and add missing ones."""

from pathlib import Path

import click

from groundtransport import db
from groundtransport.airports import comparison, loading, lookup, source
from groundtransport.airports.models import Airport
from groundtransport.airports.states import country_name
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.records_at import rename_records, report_records, withdrawn_codes


@click.group()
def airports() -> None:
    """Maintain the list of airports."""


@airports.command()
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file with the columns of airportsdata. [default: the installed airportsdata]",
)
@pass_command_context
def refresh(context: CommandContext, file: Path | None) -> None:
    """Update the airports to a newer list, and report records at airports that the list lacks."""
    context.check_migrated()
    try:
        rows = list(source.airports_of(file) if file else source.packaged_airports())
    except (source.BadList, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    with db.transaction(context.engine) as dbsession:
        result = loading.refresh_airports(dbsession, rows)
        loading.add_missing(dbsession)
        loading.note_cities(dbsession, loading.geonames_cities())
        click.echo(f"{len(result.added)} added, {len(result.changed)} changed, {len(result.vanished)} vanished.")
        for code in withdrawn_codes(dbsession):
            report_records(dbsession, code)
    rename_records(context)


@airports.command()
@pass_command_context
def check(context: CommandContext) -> None:
    """List the airports whose position differs from OpenTravelData's, and corrections that the list has overtaken."""
    context.check_migrated()
    with db.transaction(context.engine) as dbsession:
        lines = [*comparison.distant(dbsession), *comparison.outdated_corrections(source.packaged_rows())]
    for line in lines:
        click.echo(line)
    click.echo(f"{len(lines)} differences.")


@airports.command()
@click.argument("code")
@click.option("--name", required=True)
@click.option("--country", required=True, help="ISO 3166-1, such as US.")
@click.option("--city", default="")
@click.option("--state", default="", help="The name of the state, where the country has any.")
@click.option("--icao", default="")
@click.option("--latitude", type=click.FloatRange(-90, 90), required=True, help="Degrees, north positive.")
@click.option("--longitude", type=click.FloatRange(-180, 180), required=True, help="Degrees, east positive.")
@pass_command_context
def add(context: CommandContext, /, code: str, name: str, country: str, icao: str, **place: object) -> None:
    """Add an airport that the list lacks, with the IATA code CODE. A refresh does not change it."""
    context.check_migrated()
    code, icao, country = code.upper(), icao.upper(), country.upper()
    if not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise click.BadParameter("An IATA code has three letters.", param_hint="CODE")
    if icao and not (len(icao) == 4 and icao.isascii() and icao.isalnum()):
        raise click.BadParameter("An ICAO code has four letters or digits.", param_hint="--icao")
    if country_name(country) == country:
        raise click.BadParameter("No country has that code.", param_hint="--country")
    row: dict[str, object] = {"iata": code, "icao": icao, "name": name, "country": country}
    row |= {"city": place["city"], "subd": place["state"], "lat": place["latitude"], "lon": place["longitude"]}
    try:
        values = source.checked(source.airport_values(row))
    except ValueError as error:
        raise click.ClickException(f"Not added: {error}.") from error
    with db.transaction(context.engine) as dbsession:
        if lookup.by_code(dbsession, code):
            raise click.ClickException(f"There is an airport {code} already.")
        dbsession.add(Airport(**values, is_listed=False))
    click.echo(f"Added {name.strip()} ({code}).")
