"""Read CSV files with a BOM, other delimiters, invalid UTF-8 or overlong lines; write the file of refused rows."""

import csv
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

csv.field_size_limit(16 * 1024 * 1024)

ERROR = "error"


class BadFile(ValueError):
    """The file cannot be read as records; the message gives the reason."""


def find_columns(file: Path, known: Collection[str]) -> tuple[list[str], str]:
    """Return the column names and the delimiter, the one that gives most of the ``known`` names.

    Raise BadFile if there is no column ``airport_name``.
    """
    with open_text(file) as lines:
        header = lines.readline()
    best: list[str] = []
    delimiter = ","
    for candidate in (",", ";", "\t"):
        names = [name.strip() for name in next(csv.reader([header], delimiter=candidate), [])]
        if len(set(names) & set(known)) > len(set(best) & set(known)):
            best, delimiter = names, candidate
    if "airport_name" not in best:
        raise BadFile(f"{file.name} has no column airport_name. Known columns: {', '.join(known)}.")
    return best, delimiter


def open_text(file: Path) -> TextIO:
    """Open a file as UTF-8. Invalid bytes become surrogates, so that only the rows that contain them are refused."""
    return file.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def count_lines(file: Path) -> int:
    """Return the number of lines, for a progress bar."""
    with file.open("rb") as content:
        return sum(block.count(b"\n") for block in iter(lambda: content.read(1 << 20), b"")) + 1


class Rows:
    """Iterator over the rows after the header, as mappings. ``line`` is the number of the last line read."""

    def __init__(self, file: Path, columns: list[str], delimiter: str) -> None:
        self.file, self.columns, self.delimiter = file, columns, delimiter
        self.line = 0

    def __iter__(self) -> Iterator[dict[str, str]]:
        with open_text(self.file) as lines:
            reader = csv.reader(lines, delimiter=self.delimiter)
            next(reader)
            for cells in reader:
                self.line = reader.line_num
                if any(cells):
                    yield dict(zip(self.columns, cells, strict=False))


class BadRows:
    """A CSV file of refused rows with a column ``error``, created with the first row."""

    def __init__(self, file: Path, columns: list[str]) -> None:
        self.file = file
        self.columns = [name for name in columns if name != ERROR] + [ERROR]
        self._out: TextIO | None = None
        self._writer: Any = None

    def __enter__(self) -> "BadRows":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._out:
            self._out.close()

    def add(self, row: dict[str, str], error: str) -> None:
        if self._out is None:
            self._out = self.file.open("w", encoding="utf-8", errors="surrogateescape", newline="")
            self._writer = csv.DictWriter(self._out, self.columns, extrasaction="ignore")
            self._writer.writeheader()
        self._writer.writerow({**row, ERROR: error})
