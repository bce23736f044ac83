"""Read the rows of a CSV file, one at a time."""

import csv
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TextIO

from groundtransport.i18n import _
from groundtransport.transfer.formula_guard import unguard
from groundtransport.transfer.reading.limits import LINE_MAX, Limits, beyond
from groundtransport.transfer.reading.source_file import BadFile, FileRow

DELIMITERS = {",": _("Comma"), ";": _("Semicolon"), "\t": _("Tab"), "|": _("Vertical bar")}
LOOKED_AT = 30  # rows by which the delimiter is recognised


class _Lines:
    """Iterator over the lines of a text. ``is_at_end`` is True when a reader asked for one more than there are."""

    def __init__(self, text: TextIO) -> None:
        self.text, self.number, self.is_at_end = text, 0, False

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(LINE_MAX + 1):
            self.number += 1
            if len(line) > LINE_MAX:
                raise beyond(_("Line ${line} has more than ${number} characters."), LINE_MAX, line=self.number)
            yield line
        self.is_at_end = True


def read_csv(path: Path, encoding: str, delimiter: str, limits: Limits) -> Iterator[FileRow]:
    """Yield the rows of a file that are not empty, without the formula guard (see formula_guard.py).

    Bytes that are invalid in the encoding become surrogates, so that only the rows that contain them are refused.
    Raise BadFile if the file cannot be read further.
    """
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as text:
        lines = _Lines(text)
        try:
            yield from _rows(lines, delimiter, limits)
        except (csv.Error, UnicodeError) as error:
            values = {"line": str(lines.number), "reason": str(error)}
            raise BadFile(_("Line ${line} cannot be read: ${reason}.", mapping=values)) from error


def _rows(lines: _Lines, delimiter: str, limits: Limits) -> Iterator[FileRow]:
    first = 1
    for cells in _records(lines, delimiter, limits):
        if lines.is_at_end:  # the reader looked for the end of a quoted cell
            text = _("Line ${line}: a quotation mark is opened in this row and never closed.")
            raise BadFile(_(text, mapping={"line": str(first)}))
        if any(cells):
            yield FileRow(first, tuple(map(unguard, cells)))
        first = lines.number + 1


def _records(lines: _Lines, delimiter: str, limits: Limits) -> Iterator[list[str]]:
    """Yield the cells of each record; give a cell beyond the limit of the csv module its sentence."""
    begin = 1
    records = csv.reader(iter(lines), delimiter=delimiter)
    while True:
        try:
            cells = next(records, None)
        except csv.Error as error:
            if "field larger than field limit" in str(error):
                raise limits.cell_too_long(begin) from error
            raise
        if cells is None:
            return
        yield cells
        begin = lines.number + 1


def recognise_delimiter(path: Path, encoding: str) -> str:
    """Return the delimiter that stands most often in the first rows.

    A file of one column gets the tab, which no name holds.
    """
    frequencies = {delimiter: _frequency(path, encoding, delimiter) for delimiter in DELIMITERS}
    return max(frequencies, key=frequencies.__getitem__) if any(frequencies.values()) else "\t"


def _frequency(path: Path, encoding: str, delimiter: str) -> float:
    """Return how often a delimiter stands in a row, halved if quotation marks do not stand beside it as they should."""
    rows: list[list[str]] = []
    for is_strict, factor in ((True, 1.0), (False, 0.5)):
        rows.clear()
        with path.open(encoding=encoding, errors="surrogateescape", newline="") as text:
            records = csv.reader(iter(_Lines(text)), delimiter=delimiter, strict=is_strict)
            with suppress(csv.Error, BadFile, UnicodeError):
                rows.extend(cells for cells in islice(records, LOOKED_AT) if cells)
                return factor * _mean(rows)
    return 0.5 * _mean(rows)  # those before the fault


def _mean(rows: list[list[str]]) -> float:
    """Return the mean number of delimiters of a row; 0 if most rows have none."""
    divided = [len(cells) - 1 for cells in rows if len(cells) > 1]
    return sum(divided) / len(rows) if 2 * len(divided) >= len(rows) > 0 else 0.0
