"""The file formats of exports. Each writer turns chunks of rows into parts of a file, with flat memory."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from groundtransport.json_types import JsonObject
from groundtransport.transfer.export.columns import Cell, Column
from groundtransport.transfer.export.rows import Rows
from groundtransport.transfer.formula_guard import guard

XLSX_ROWS = 1_048_576  # of one sheet, the header included: a limit of the format
BLOCK = 64 * 1024  # bytes of one part of a finished file
BOM = "\ufeff"


class Format(StrEnum):
    """The formats of exports; the values are the suffixes of files."""

    CSV = "csv"
    XLSX = "xlsx"
    JSONL = "jsonl"
    GEOJSON = "geojson"


class TooManyRows(Exception):
    """More rows than an XLSX sheet has."""


CONTENT_TYPES = {
    Format.CSV: "text/csv",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.JSONL: "application/jsonl",
    Format.GEOJSON: "application/geo+json",
}


@dataclass(frozen=True)
class Layout:
    """The columns of a file and their headers; ``has_bom`` and ``has_guard`` are for CSV."""

    columns: Sequence[Column]
    header: Sequence[str]
    has_bom: bool = False
    has_guard: bool = True


def write_rows(file_format: Format, layout: Layout, chunks: Iterable[Rows]) -> Iterator[bytes]:
    """Yield the parts of a file; parts may be empty while a chunk is only being prepared."""
    writers = {Format.CSV: csv_parts, Format.XLSX: xlsx_parts, Format.JSONL: jsonl_parts}
    return writers[file_format](layout, chunks)


def csv_parts(layout: Layout, chunks: Iterable[Rows]) -> Iterator[bytes]:
    """Yield a CSV file (RFC 4180) in UTF-8; see ``formula_guard`` for cells that begin like a formula."""

    def cell(text: str) -> str:
        return guard(text, is_on=layout.has_guard)

    bom = BOM if layout.has_bom else ""
    yield (bom + _csv_lines([map(cell, layout.header)])).encode()
    texts = [column.text for column in layout.columns]
    for rows in chunks:
        lines = ([cell(text(value)) for text, value in zip(texts, row, strict=False)] for row in rows)
        yield _csv_lines(lines).encode()


def _csv_lines(rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


def jsonl_parts(layout: Layout, chunks: Iterable[Rows]) -> Iterator[bytes]:
    """Yield JSON Lines: one object per row, with field names as keys and the values as they are stored."""
    names = [column.name for column in layout.columns]
    for rows in chunks:
        lines = (orjson.dumps(dict(zip(names, row, strict=False))) for row in rows)
        yield b"\n".join(lines) + b"\n"


def xlsx_parts(layout: Layout, chunks: Iterable[Rows]) -> Iterator[bytes]:
    """Yield an XLSX file of one sheet, which is written to the disk first: the format is a ZIP file.

    Raise TooManyRows if they do not fit.
    """
    with TemporaryDirectory() as folder:  # deleted with all parts of the file if the client leaves
        file = Path(folder) / "export.xlsx"
        workbook = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": folder})
        sheet = workbook.add_worksheet()
        sheet.freeze_panes(1, 0)
        for number, title in enumerate(layout.header):
            sheet.write_string(0, number, title)
        date_format, lines = workbook.add_format({"num_format": "yyyy-mm-dd"}), count(1)
        with closing(sheet.row_data_fh):  # which XlsxWriter closes only at the end of a whole file
            for rows in chunks:
                for row, line in zip(rows, lines, strict=False):
                    if line >= XLSX_ROWS:
                        raise TooManyRows
                    _write_row(sheet, line, layout.columns, row, date_format)
                yield b""
            workbook.close()
        with file.open("rb") as content:
            while block := content.read(BLOCK):
                yield block


def _write_row(
    sheet: Worksheet, line: int, columns: Sequence[Column], row: Sequence[object], date_format: object
) -> None:
    for number, (column, value) in enumerate(zip(columns, row, strict=False)):
        cell: Cell = column.cell(value)
        if isinstance(cell, str):
            if cell:
                sheet.write_string(line, number, cell)
        elif isinstance(cell, date):
            sheet.write_datetime(line, number, cell, date_format)
        else:
            sheet.write_number(line, number, cell)


def geojson_parts(airports: Iterable[object]) -> Iterator[bytes]:
    """Yield a GeoJSON FeatureCollection (RFC 7946) of airports with the number of their records."""
    yield b'{"type":"FeatureCollection","features":['
    for number, airport in enumerate(airports):
        yield (b",\n" if number else b"\n") + orjson.dumps(_feature(airport))
    yield b"\n]}\n"


def _feature(airport: Any) -> JsonObject:
    names = ("code", "icao", "name", "city", "country", "records")
    return {
        "type": "Feature",
        "id": airport.code,
        "geometry": {"type": "Point", "coordinates": [airport.longitude, airport.latitude]},
        "properties": {name: getattr(airport, name) for name in names},
    }
