"""Recognise a file and read its rows, whatever its format, with flat memory and within the limits."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from groundtransport.i18n import _
from groundtransport.transfer.reading import gtfs, workbook
from groundtransport.transfer.reading.csv_rows import DELIMITERS, read_csv, recognise_delimiter
from groundtransport.transfer.reading.encodings import ENCODINGS, recognise
from groundtransport.transfer.reading.formats import recognise_format
from groundtransport.transfer.reading.gtfs import AirportPosition
from groundtransport.transfer.reading.json_lines import read_json_lines
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.reading.source_file import SAMPLE_ROWS, BadFile, FileRow, Format, ReadOptions, SourceFile

TITLE_ROWS = 10  # that may stand over the header


class FileReader:
    """Reads files within ``limits``. ``airports`` returns the airports that a GTFS feed's stops are compared with."""

    def __init__(self, limits: Limits, airports: Callable[[], Sequence[AirportPosition]] = tuple) -> None:
        self.limits, self.airports = limits, airports

    def sniff(self, path: Path, filename: str, options: ReadOptions | None = None) -> SourceFile:
        """Return a file as it is recognised, or as ``options`` say. Raise BadFile if it holds no header."""
        return self.with_header(self.outline(path, filename, options or ReadOptions()))

    def with_header(self, file: SourceFile) -> SourceFile:
        """Return a recognised file with its header and first rows. Raise BadFile if it holds no header."""
        first = list(islice(self._all_rows(file), TITLE_ROWS + SAMPLE_ROWS + 1))
        if not any(cell.strip() for row in first for cell in row.cells):
            raise BadFile(_("The file has no row."))
        index = _header_index(first[:TITLE_ROWS])
        header = tuple(cell.strip() for cell in first[index].cells)
        sample = tuple(first[index + 1 : index + 1 + SAMPLE_ROWS])
        return replace(file, header=header, header_line=first[index].line, sample=sample)

    def rows(self, file: SourceFile) -> Iterator[FileRow]:
        """Yield the rows after the header that are not empty. Raise BadFile where the file cannot be read further."""
        rows = (row for row in self._all_rows(file) if row.line > file.header_line)
        for count, row in enumerate(rows, 1):
            self.limits.check_count(count, row.line)
            yield replace(row, is_too_wide=True) if any(row.cells[len(file.header) :]) else row

    def outline(self, path: Path, filename: str, options: ReadOptions) -> SourceFile:
        """Return a file with its format, encoding, delimiter and sheets, without header. Raise BadFile for others."""
        self.limits.check_size(path.stat().st_size)
        form = recognise_format(path)
        file = SourceFile(path, filename, form, (), ())
        if form == Format.XLSX:
            workbook.check_workbook(path, self.limits)
            sheets = workbook.sheet_names(path)
            file = replace(file, sheets=sheets)
            return replace(file, sheet=options.sheet or self._likeliest_sheet(file))
        if form == Format.GTFS:
            gtfs.check_feed(path, self.limits)
        if form != Format.CSV:
            return file
        encoding, is_guessed = (options.encoding, False) if options.encoding else recognise(path)
        if encoding not in ENCODINGS:
            raise BadFile(_("The encoding ${encoding} is not known.", mapping={"encoding": encoding}))
        delimiter = options.delimiter or recognise_delimiter(path, encoding)
        if delimiter not in DELIMITERS:
            raise BadFile(_("A delimiter must be a comma, a semicolon, a tab or a vertical bar."))
        return replace(file, encoding=encoding, is_guessed=is_guessed, delimiter=delimiter)

    def _likeliest_sheet(self, file: SourceFile) -> str:
        """Return the first sheet with two rows of several cells, because a note may come first; else the first one."""
        if len(file.sheets) == 1:
            return file.sheets[0]
        return next((name for name in file.sheets if self._holds_table(replace(file, sheet=name))), file.sheets[0])

    def _holds_table(self, file: SourceFile) -> bool:
        """Return True if two of the first rows have several cells. A chart has no rows."""
        with suppress(BadFile):
            first = islice(self._all_rows(file), TITLE_ROWS + 1)
            return sum(sum(bool(cell.strip()) for cell in row.cells) > 1 for row in first) > 1
        return False

    def _all_rows(self, file: SourceFile) -> Iterator[FileRow]:
        """Yield the rows of a file within the limits, with the header and what stands over it."""
        for row in self._rows_of_format(file):
            self.limits.check_row(row)
            yield row

    def _rows_of_format(self, file: SourceFile) -> Iterator[FileRow]:
        match file.format:
            case Format.XLSX:
                return workbook.read_sheet(file.path, file.sheet, self.limits)
            case Format.GTFS:
                return gtfs.read_feed(file.path, Path(file.filename).stem, self.airports())
            case Format.JSON_LINES:
                return read_json_lines(file.path)
            case Format.CSV:
                return read_csv(file.path, file.encoding, file.delimiter, self.limits)


def _header_index(rows: Sequence[FileRow]) -> int:
    """Return the index of the header: of the first row that is about as wide as the widest; titles have fewer cells."""
    widths = [sum(bool(cell.strip()) for cell in row.cells) for row in rows]
    return next((index for index, width in enumerate(widths) if 2 * width > max(widths)), 0)
