"""Check how far the sheets of a workbook reach, before calamine reads one.

calamine holds every cell from the first filled one to the last, so one far cell in a small file can exhaust the memory
of the machine.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from groundtransport.i18n import _
from groundtransport.transfer.reading import archives
from groundtransport.transfer.reading.limits import beyond
from groundtransport.transfer.reading.source_file import BadFile

CELLS_MAX = 10_000_000  # of the rectangle from the first cell to the last filled one; calamine takes 32 bytes for each
_BLOCK = 1 << 18
_REFERENCE = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_CONTENTS = {"v", "is", "t"}  # elements of a cell that is not empty


class _OtherPart(Exception):
    """The part of the workbook is no sheet."""


def check_extents(path: Path) -> None:
    """Raise BadFile if a sheet of the workbook reaches too far, or is no well-formed XML."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            with archive.open(info) as file:
                _check_part(info.filename, iter(lambda: file.read(_BLOCK), b""))


def _check_part(name: str, blocks: Iterator[bytes]) -> None:
    """Raise BadFile if a part of a workbook is a sheet that reaches too far, or ill-formed XML."""
    extent = _Extent()
    try:
        for block in blocks:
            extent.parser.Parse(block)
            extent.check()
        extent.parser.Parse(b"", True)  # noqa: FBT003  # the end
    except _OtherPart:
        return
    except (expat.ExpatError, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        if extent.is_sheet or name.lower().endswith(".xml"):
            raise BadFile(archives.DAMAGED) from error


class _Extent:
    """The last row and column of a sheet that hold something, counted from 1. ``parser`` takes its XML."""

    def __init__(self) -> None:
        self.is_sheet = False
        self.row = self.column = self.last_row = self.last_column = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def check(self) -> None:
        """Raise BadFile if the sheet reaches too far."""
        if self.last_row * self.last_column > CELLS_MAX:
            text = _(
                "A sheet reaches to line ${line} and has ${count} columns; at most ${number} cells can be imported. "
                "Delete what stands far away from the table."
            )
            raise beyond(text, CELLS_MAX, line=self.last_row, count=self.last_column)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Note the position of a row or a cell, and that a cell has a content."""
        tag = name.rpartition(":")[2]
        if not self.is_sheet:
            if tag != "worksheet":
                raise _OtherPart
            self.is_sheet = True
        elif tag == "c":
            self._move_to(attributes.get("r"))
        elif tag in _CONTENTS:
            self.last_row, self.last_column = max(self.last_row, self.row), max(self.last_column, self.column)
        elif tag == "row":
            self.row, self.column = int(attributes.get("r", self.row + 1)), 0

    def _move_to(self, reference: str | None) -> None:
        """Set the position to that of a cell, such as ``AB12``, or to the next one. Raise ValueError for others."""
        if reference is None:
            self.column += 1
            return
        match = _REFERENCE.fullmatch(reference.upper())
        if match is None:
            raise ValueError(reference)
        self.row, self.column = int(match[2]), 0
        for letter in match[1]:
            self.column = 26 * self.column + ord(letter) - ord("A") + 1

    def _refuse_doctype(self, *_values: object) -> None:
        """Raise ValueError: no workbook has a document type, whose entities could hide a reference."""
        raise ValueError("document type")
