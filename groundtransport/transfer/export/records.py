"""The export of a kind's records in a chosen format."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from sqlalchemy import Connection

from groundtransport.security_log.events import Entry
from groundtransport.transfer.export.columns import Column, choose, columns_of
from groundtransport.transfer.export.formats import XLSX_ROWS, Format, Layout, TooManyRows, geojson_parts, write_rows
from groundtransport.transfer.export.rows import Rows, Selection, is_longer, read_airports, read_chunks
from groundtransport.transfer.export.stream import Export, Write

XLSX_RECORDS = XLSX_ROWS - 1  # one row is the header


@dataclass(frozen=True)
class Options:
    """What a file holds and how. ``names`` are those of the columns, () for all; ``has_labels`` is for the header."""

    file_format: Format = Format.CSV
    names: Sequence[str] = ()
    has_labels: bool = False
    has_bom: bool = False
    has_guard: bool = True


def export_of(selection: Selection, options: Options, entry: Entry, translate: Callable[[str], str]) -> Export:
    """Return the export of a selection. Raise UnknownColumn; its reading raises TooManyRows.

    ``translate`` translates the labels; ``entry`` is the event without details of the file.
    """
    if options.file_format is Format.GEOJSON:
        return Export(partial(_read_features, selection), _write_features, entry, selection.text)
    columns = choose(columns_of(selection.kind, deleted=selection.query.deleted), options.names)
    read = partial(_read, selection, columns, most=XLSX_RECORDS if options.file_format is Format.XLSX else None)
    header = [translate(column.title) if options.has_labels else column.name for column in columns]
    layout = Layout(columns, header, options.has_bom, options.has_guard)
    write: Write = partial(write_rows, options.file_format, layout)
    return Export(read, write, entry, selection.text)


def _read(selection: Selection, columns: Sequence[Column], connection: Connection, most: int | None) -> Iterator[Rows]:
    if most is not None and is_longer(connection, selection, most):
        raise TooManyRows
    yield from read_chunks(connection, selection, [column.name for column in columns])


def _read_features(selection: Selection, connection: Connection) -> Iterator[Rows]:
    airports = read_airports(connection, selection)
    if airports:
        yield airports


def _write_features(chunks: Iterable[Rows]) -> Iterator[bytes]:
    return geojson_parts(chain.from_iterable(chunks))
