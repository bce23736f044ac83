"""The limits of a file that is imported, and the sentences that refuse what is beyond them."""

from dataclasses import dataclass

from groundtransport import formats
from groundtransport.i18n import _
from groundtransport.settings import Settings
from groundtransport.transfer.reading.source_file import BadFile, FileRow

LINE_MAX = 1_000_000  # characters; a line is read as a whole


@dataclass(frozen=True)
class Limits:
    """The greatest number of rows and columns, size in bytes, length of a cell in characters, and unpacked size."""

    rows: int
    size: int
    columns: int
    cell: int
    unpacked: int

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        """Return the limits of the ini."""
        return cls(
            settings.import_rows,
            settings.import_size,
            settings.import_columns,
            settings.import_cell,
            settings.import_unpacked,
        )

    def check_size(self, size: int) -> None:
        """Raise BadFile if a file has too many bytes, or none."""
        if not size:
            raise BadFile(_("The file is empty."))
        if size > self.size:
            text = _("The file has ${size} MB; at most ${number} MB can be imported.")
            raise beyond(text, number=megabytes(self.size), size=megabytes(size))

    def check_row(self, row: FileRow) -> None:
        """Raise BadFile if a row has too many columns or too long a cell."""
        if len(row.cells) > self.columns:
            text = _("Line ${line} has ${count} columns; at most ${number} can be imported.")
            raise beyond(text, self.columns, line=row.line, count=len(row.cells))
        if max(map(len, row.cells), default=0) > self.cell:
            raise self.cell_too_long(row.line)

    def check_count(self, count: int, line: int) -> None:
        """Raise BadFile if ``count`` rows are too many; ``line`` is that of the last one."""
        if count > self.rows:
            text = _("Line ${line}: a file can have at most ${number} rows. Divide it.")
            raise beyond(text, self.rows, line=line)

    def cell_too_long(self, line: int) -> BadFile:
        """Return the error about a cell in the row that begins at ``line``."""
        text = _(
            "Line ${line}: a cell has more than ${number} characters. Perhaps a quotation mark is not closed there."
        )
        return beyond(text, self.cell, line=line)


def beyond(text: str, number: int | str, **values: int | str) -> BadFile:
    """Return the error of a translatable text with the limit ``number`` and other values in it."""
    formatted = {name: value if isinstance(value, str) else formats.number(value) for name, value in values.items()}
    limit = number if isinstance(number, str) else formats.number(number)
    return BadFile(_(text, mapping={"number": limit, **formatted}))


def megabytes(size: int) -> str:
    """Return a number of bytes in units of 1,048,576, with one decimal if it is no whole number."""
    return f"{size / 2**20:.1f}".removesuffix(".0")
