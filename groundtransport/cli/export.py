"""``groundtransport export``: write a kind's records, or the activity log, to a file."""

import math
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import click
from sqlalchemy.exc import DBAPIError

from groundtransport.audit import query as activity_query
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.import_records import kind_of
from groundtransport.i18n import translated
from groundtransport.records.list.query import filter_names, read_query
from groundtransport.security_log.events import COMMAND_LINE, Entry, Event
from groundtransport.settings import PAGE_SIZES
from groundtransport.transfer.export import activity
from groundtransport.transfer.export.columns import UnknownColumn
from groundtransport.transfer.export.formats import Format, TooManyRows
from groundtransport.transfer.export.records import XLSX_RECORDS, Options, export_of
from groundtransport.transfer.export.rows import Selection
from groundtransport.transfer.export.stream import Export, Parts, run_export

ACTIVITY = "activity"


@click.command()
@click.argument("name", metavar="KIND")
@click.option(
    "--format", "file_format", type=click.Choice(Format, case_sensitive=False), default=Format.CSV, show_default=True
)
@click.option("--filter", "filters", multiple=True, metavar="NAME=VALUE", help="A filter of the list; q is the search.")
@click.option("--sort", default="", help="A column; a minus before it sorts descending.  [default: newest first]")
@click.option("--deleted", is_flag=True, help="Export the deleted records.")
@click.option("--columns", default="", metavar="NAME,NAME...", help="The columns.  [default: all]")
@click.option("--labels", is_flag=True, help="Head the columns with titles, not with field names.")
@click.option("--bom", is_flag=True, help="Begin a CSV file with a byte order mark, for Excel.")
@click.option("--no-guard", is_flag=True, help="Put no apostrophe before CSV cells that begin like a formula.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="The file, replaced when the export is complete.  [default: standard output]",
)
@pass_command_context
def export(context: CommandContext, /, name: str, output: Path, **choice: object) -> None:
    """Write the records of a KIND, or the activity log (KIND: activity), to a file."""
    file_format = choice["file_format"]
    if file_format is Format.XLSX and str(output) == "-" and sys.stdout.isatty():
        raise click.BadParameter("Name a file for XLSX.", param_hint="--output")
    try:
        chosen_export = _activity(context, choice) if name == ACTIVITY else _records(context, name, choice)
        parts = run_export(chosen_export, context.engine, context.registry["security_log"], math.inf)
        _write(parts, output)
    except UnknownColumn as error:
        raise click.BadParameter(f"There is no column {error}.", param_hint="--columns") from error
    except TooManyRows as error:
        raise click.ClickException(
            f"An XLSX file holds at most {XLSX_RECORDS:,} records. Choose another format."
        ) from error
    except (OSError, DBAPIError) as error:
        raise click.ClickException(f"The export is not complete: {getattr(error, 'orig', error)}") from error


def _records(context: CommandContext, name: str, choice: Mapping[str, Any]) -> Export:
    """Return the export of a kind's records."""
    kind = kind_of(context, name)
    filters = _filters(choice["filters"], {"q", *filter_names(kind)})
    values = {**filters, "sort": [choice["sort"]], "deleted": ["1" if choice["deleted"] else ""]}
    days = context.registry["settings"].verify_after_days.of(kind.name)
    query = read_query(kind, values, PAGE_SIZES[0], days)
    if query.sort != choice["sort"]:
        raise click.BadParameter(f"There is no column {choice['sort']}.", param_hint="--sort")
    options = Options(
        choice["file_format"],
        [column.strip() for column in choice["columns"].split(",") if column.strip()],
        has_labels=choice["labels"],
        has_bom=choice["bom"],
        has_guard=not choice["no_guard"],
    )
    return export_of(Selection(kind, query), options, _entry(context, name, choice), translated)


def _activity(context: CommandContext, choice: Mapping[str, Any]) -> Export:
    """Return the export of the activity log."""
    if choice["file_format"] is Format.GEOJSON:
        raise click.BadParameter("The activity log has no GeoJSON.", param_hint="--format")
    values = _filters(choice["filters"], activity_query.NAMES)
    query = activity_query.read(values, PAGE_SIZES[0])
    if unread := values.keys() - query.filters.keys():
        raise click.BadParameter(f"{sorted(unread)[0]} is not understood.", param_hint="--filter")
    entry = _entry(context, "activity log", choice)
    layout = activity.layout_of(activity.ACTIVITY, has_bom=choice["bom"], has_guard=not choice["no_guard"])
    return activity.export_of(context.registry["kinds"], query, choice["file_format"], layout, entry)


def _filters(pairs: Iterable[str], known: Iterable[str]) -> dict[str, list[str]]:
    """Return the parameters of a query from texts ``name=value``. Raise BadParameter for an unknown name."""
    filters: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in known or name in filters:
            names = ", ".join(sorted(known))
            raise click.BadParameter(
                f"{pair} is not NAME=VALUE, each name once, out of: {names}.", param_hint="--filter"
            )
        filters[name] = [value]
    return filters


def _entry(context: CommandContext, what: str, choice: Mapping[str, object]) -> Entry:
    details = {"what": what, "format": str(choice["file_format"])}
    return Entry(Event.EXPORT, context.actor("export").name, address=COMMAND_LINE, details=details)


def _write(parts: Parts, output: Path) -> None:
    """Write the parts to a file beside ``output``, which replaces it when it is complete; or to standard output."""
    with closing(parts):
        next(parts)  # errors of the query come before the file is made
        if str(output) == "-":
            _copy(parts, sys.stdout.buffer)
            return
        unfinished = output.with_name(f"{output.name}.part")
        try:
            with unfinished.open("wb") as out:
                _copy(parts, out)
            unfinished.replace(output)
        finally:
            unfinished.unlink(missing_ok=True)


def _copy(parts: Parts, out: BinaryIO) -> None:
    for part in parts:
        out.write(part)
    out.flush()
