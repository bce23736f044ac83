"""A file of rows as it was recognised, and how a person can change that."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

SAMPLE_ROWS = 20  # of a file, shown before it is read


class Format(StrEnum):
    """The formats of files that can be read."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON_LINES = "jsonl"
    GTFS = "gtfs"


class BadFile(ValueError):
    """The file, or the rest of it, cannot be read as rows. ``reason`` is a translatable text that names the line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class FileRow:
    """A row of a file: the number of its first line, from 1 (for a spreadsheet, of its row), and its cells.

    ``is_too_wide``: it has more filled cells than the header, so its cells may stand in wrong columns.
    """

    line: int
    cells: tuple[str, ...]
    is_too_wide: bool = False


@dataclass(frozen=True)
class ReadOptions:
    """What a person says about a file; "" where the file decides."""

    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""


@dataclass(frozen=True)
class SourceFile:
    """A file, its recognised format, its header and its first rows. ``filename`` is the name that people know it by."""

    path: Path
    filename: str
    format: Format
    header: tuple[str, ...]
    sample: tuple[FileRow, ...]  # the first SAMPLE_ROWS rows after the header
    header_line: int = 1
    encoding: str = ""  # of a CSV file, as Python's codecs name it
    is_guessed: bool = False  # the encoding is a guess, which a person should look at
    delimiter: str = ""  # of a CSV file
    sheets: tuple[str, ...] = ()  # of a workbook
    sheet: str = ""  # the one that is read
