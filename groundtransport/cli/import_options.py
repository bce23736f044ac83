"""The options of ``groundtransport import``, and what they mean for a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.transfer.columns import guess_mapping
from groundtransport.transfer.plan_types import AIRPORT_CODE, FURTHER_COLUMNS, ID, ImportOptions, Match
from groundtransport.transfer.reading.encodings import ENCODINGS, UTF_8
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.source_file import BadFile, ReadOptions, SourceFile


@dataclass(frozen=True)
class ImportRequest:
    """The options as they were given. ``maps`` and ``defaults`` hold texts with an equals sign."""

    match: str
    is_dry_run: bool
    can_add: bool
    can_update: bool
    clears_empty_cells: bool
    joins_lines: bool
    maps: Sequence[str]
    defaults: Sequence[str]
    encoding: str | None
    delimiter: str
    sheet: str
    is_resumed: bool


_OPTIONS = (
    click.option(
        "--match",
        type=click.Choice([match.value for match in Match]),
        default=Match.NEVER.value,
        show_default=True,
        help="How a row finds its record: by id, by source and source_id, by airport, company and route, or not.",
    ),
    click.option("--update", "can_update", is_flag=True, help="Change the records that rows match."),
    click.option("--add/--no-add", "can_add", default=True, help="Create records from the other rows (the default)."),
    click.option("--clear-empty", "clears_empty_cells", is_flag=True, help="An empty cell clears the field."),
    click.option("--join-lines", "joins_lines", is_flag=True, help="Commas in place of line breaks inside of cells."),
    click.option("--dry-run", "is_dry_run", is_flag=True, help="Change no record; print what would happen."),
    click.option("--map", "maps", multiple=True, metavar="COLUMN=FIELD", help="What a column holds; repeatable."),
    click.option("--default", "defaults", multiple=True, metavar="FIELD=TEXT", help="For rows without; repeatable."),
    click.option("--encoding", type=click.Choice(list(ENCODINGS)), help="Of a CSV file; UTF-8 or as its mark says."),
    click.option("--delimiter", default="", help="Of a CSV file: a comma, semicolon, tab or vertical bar."),
    click.option("--sheet", default="", help="Of a workbook; the first with a table if not given."),
    click.option("--resume", "is_resumed", is_flag=True, help="Go on with an interrupted import, with its options."),
)


def import_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options of an import to a command; it gets the fields of ImportRequest."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_file(reader: FileReader, path: Path, request: ImportRequest) -> SourceFile:
    """Return the recognised file. Raise BadFile if it is none.

    A guessed encoding is not used, because nobody looks at it before the rows are written. Raise ClickException if the
    header cannot be read without one, because its columns would not be known.
    """
    options = ReadOptions(request.encoding or "", request.delimiter, request.sheet)
    file = reader.sniff(path, path.name, options)
    if file.is_guessed:
        hint = f"is not valid UTF-8. If it is {ENCODINGS[file.encoding]}: --encoding {file.encoding}"
        file = reader.sniff(path, path.name, ReadOptions(UTF_8, request.delimiter, request.sheet))
        titles = "".join(file.header)
        if titles != titles.encode(errors="replace").decode():  # invalid bytes are surrogates: see reading/csv_rows.py
            raise click.ClickException(f"The header {hint}")
        click.echo(f"The file {hint}")
    return file


def options_of(kind: Kind, file: SourceFile, request: ImportRequest) -> ImportOptions:
    """Return the options for a file. Raise BadFile if it cannot be imported with them, BadParameter if one is wrong."""
    known = (*kind.fields, *FURTHER_COLUMNS)
    defaults = _pairs(request.defaults, "--default", {name: name for name in known})
    mapping = guess_mapping(kind, file.header)
    for title, name in _pairs(request.maps, "--map", {title: title for title in file.header}).items():
        if name and name not in known:
            raise click.BadParameter(f"{name} is none of: {', '.join(known)}.", param_hint="--map")
        mapping |= {index: None for index, other in mapping.items() if other == name}
        mapping[file.header.index(title)] = name or None
    match = Match(request.match)
    check_columns(kind, file, {*mapping.values(), *defaults}, match)
    more = (request.can_add, request.can_update, request.clears_empty_cells, request.joins_lines)
    return ImportOptions(mapping, match, *more, defaults)


def _pairs(texts: Sequence[str], option: str, known: Mapping[str, str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name.strip() not in known:
            raise click.BadParameter(f"{name.strip()} is none of: {', '.join(known)}.", param_hint=option)
        pairs[known[name.strip()]] = value.strip()
    return pairs


def check_columns(kind: Kind, file: SourceFile, names: set[str | None], match: Match) -> None:
    """Raise BadFile if no row of the file could be imported, for want of a column."""
    if match == Match.ID and ID not in names:
        raise BadFile(_("The file has no column id, by which its rows would be matched."))
    if match == Match.SOURCE and not {"source", "source_id"} <= names:
        raise BadFile(_("The file has no columns source and source_id, by which its rows would be matched."))
    if match in (Match.NEVER, Match.PLACE) and not {"airport_name", AIRPORT_CODE} & names:
        values = {"file": file.filename, "fields": tuple(kind.fields)}
        raise BadFile(_("${file} has no column airport_name. Known columns: ${fields}.", mapping=values))
