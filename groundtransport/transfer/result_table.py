"""A file of rows with what is wrong or doubtful about each, in the format, encoding and delimiter that came in.

An import ignores its columns ``line``, ``field``, ``value`` and ``reason`` (columns.py), so the file can be corrected
and imported again.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import orjson
import xlsxwriter

from groundtransport.i18n import _
from groundtransport.transfer.columns import REFUSED_COLUMNS, refused_columns
from groundtransport.transfer.formula_guard import guard
from groundtransport.transfer.plan_types import Outcome, PlannedRow
from groundtransport.transfer.reading.encodings import UTF_8
from groundtransport.transfer.reading.source_file import Format, SourceFile

CHANGED_SINCE = _(
    "Somebody changed the record after the preview, or another record has its source ID or its place now."
)
# The formats of results; the rows of others, such as GTFS, become CSV.
SUFFIXES = {Format.XLSX: "xlsx", Format.JSON_LINES: "jsonl"}
CONTENT_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/jsonl",
}
Row = Sequence[str]
Translate = Callable[[str], str]


def suffix_of(file: SourceFile) -> str:
    """Return how the name of a result ends: ``csv``, ``xlsx`` or ``jsonl``."""
    return SUFFIXES.get(file.format, "csv")


def result_rows(
    file: SourceFile, rows: Iterable[PlannedRow], titles: Mapping[str, str], translate: Translate, *, are_bad: bool
) -> Iterator[Row]:
    """Yield the header and the rows, each with its remarks; ``titles`` maps the names of fields.

    With ``are_bad``, none of the rows was written: those that were planned to be are conflicts. The cells of a row that
    are more than those of the header come last, so that such a row is refused until they are put where they belong.
    """
    earlier_remarks = refused_columns(file.header)
    old = [index for index in range(len(file.header)) if index not in earlier_remarks]
    yield [*(file.header[index] for index in old), *REFUSED_COLUMNS]
    for row in rows:
        cells = [row.cells[index] if index < len(row.cells) else "" for index in old]
        is_conflict = are_bad and row.outcome in (Outcome.NEW, Outcome.CHANGED)
        remarks = [*([("", "", CHANGED_SINCE)] if is_conflict else []), *_remarks(row)]
        names = dict.fromkeys(translate(titles[name]) for name, _value, _reason in remarks if name in titles)
        values = "; ".join(value for _name, value, _reason in remarks if value)
        reasons = " ".join(translate(reason) for _name, _value, reason in remarks)
        surplus = row.cells[len(file.header) :]
        yield [*cells, str(row.line), "; ".join(names), values, reasons, *(surplus if any(surplus) else ())]


def _remarks(row: PlannedRow) -> Iterator[tuple[str, str, str]]:
    """Yield the field, value and reason of each problem and doubt of a row."""
    yield from ((problem.field, problem.value, problem.reason) for problem in row.problems)
    yield from ((doubt.field, "", doubt.reason) for doubt in row.doubts)
    if row.similar:
        ids = ", ".join(map(str, row.similar))
        yield "", "", _("Similar to the record: ${ids}", mapping={"ids": ids})


def write_file(path: Path, file: SourceFile, rows: Iterable[Row]) -> bool:
    """Write the header and rows to a file; write none, and return False, if there is nothing but the header."""
    table = iter(rows)
    first = [row for _number, row in zip(range(2), table, strict=False)]
    if len(first) < 2:
        return False
    with path.open("wb") as target:
        write(target, file, chain(first, table))
    return True


def write(target: IO[bytes], file: SourceFile, rows: Iterable[Row]) -> None:
    """Write the header and rows as ``file`` was written."""
    WRITERS.get(file.format, _write_csv)(target, file, rows)


def _write_csv(target: IO[bytes], file: SourceFile, rows: Iterable[Row]) -> None:
    encoding = file.encoding or UTF_8  # with a byte order mark, by which Excel recognises it
    # What is invalid in UTF-8 was read as surrogates, and becomes the same bytes again.
    errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    text = io.TextIOWrapper(target, encoding, errors, newline="")
    # A file of one column has no delimiter.
    writer = csv.writer(text, delimiter=(len(file.header) > 1 and file.delimiter) or ",")
    writer.writerows([guard(cell) for cell in row] for row in rows)
    text.flush()
    text.detach()


def _write_workbook(target: IO[bytes], file: SourceFile, rows: Iterable[Row]) -> None:
    """Write a workbook of text cells."""
    options = {"constant_memory": True, "strings_to_numbers": False, "strings_to_formulas": False}
    with xlsxwriter.Workbook(target, {**options, "strings_to_urls": False}) as workbook:
        sheet = workbook.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, [cell.encode(errors="replace").decode() for cell in row])


def _write_json_lines(target: IO[bytes], file: SourceFile, rows: Iterable[Row]) -> None:
    table = iter(rows)
    header = next(table)
    for row in table:
        # A name of the file's own, such as "line", keeps its value.
        own = dict(zip(header[: -len(REFUSED_COLUMNS)], row, strict=False))
        values = {**dict(zip(header, row, strict=True)), **own}
        target.write(orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE))


WRITERS = {Format.XLSX: _write_workbook, Format.JSON_LINES: _write_json_lines}
