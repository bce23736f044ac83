"""Read the rows of an Excel workbook (.xlsx) with calamine. Formulas give their last result; macros are refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from groundtransport.i18n import _
from groundtransport.transfer.reading import archives, sheet_extent
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.reading.source_file import BadFile, FileRow

PASSWORD = _("The workbook is protected by a password. Save it without one.")
_EXACT = 10**15  # Excel keeps 15 digits of a number


def check_workbook(path: Path, limits: Limits) -> None:
    """Raise BadFile if a workbook holds macros, is too large unpacked, or has a sheet that reaches too far."""
    if any(name.lower().endswith("vbaproject.bin") for name in archives.names_of(path)):
        raise BadFile(_("The workbook holds macros. Save it as .xlsx without them."))
    archives.check_unpacked_size(path, limits)
    sheet_extent.check_extents(path)


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the names of a workbook's sheets. Raise BadFile if it is damaged or has none."""
    with _open(path) as book:
        names = tuple(book.sheet_names)
    if not names:
        raise BadFile(_("The workbook has no sheet."))
    return names


def read_sheet(path: Path, name: str, limits: Limits) -> Iterator[FileRow]:
    """Yield the rows of a sheet that are not empty. A merged cell's value stands in each of its rows.

    Raise BadFile if there is no such sheet.
    """
    with _open(path) as book:
        if name not in book.sheet_names:
            raise BadFile(_("The workbook has no sheet ${sheet}.", mapping={"sheet": name}))
        with _faults_of_calamine():
            sheet = book.get_sheet_by_name(name)
        yield from _rows(sheet, limits)


def _open(path: Path) -> CalamineWorkbook:
    with _faults_of_calamine():
        return CalamineWorkbook.from_path(str(path))


@contextmanager
def _faults_of_calamine() -> Iterator[None]:
    """Raise BadFile in place of an error of calamine, and of a panic of its Rust code, which is no Exception."""
    try:
        yield
    except PasswordError as error:
        raise BadFile(PASSWORD) from error
    except CalamineError as error:
        raise BadFile(archives.DAMAGED) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise BadFile(archives.DAMAGED) from error
        raise


def _rows(sheet: CalamineSheet, limits: Limits) -> Iterator[FileRow]:
    if sheet.start is None:
        return
    merged = _merged_columns(sheet)
    above: dict[int, str] = {}
    # calamine gives the empty rows above the first cell, but not the empty columns before it.
    for index, values in enumerate(sheet.iter_rows()):
        cells = [""] * sheet.start[1] + [text_of(value) for value in values]
        for column, ranges in merged.items():
            if column < len(cells) and any(first < index <= last for first, last in ranges):
                cells[column] = above.get(column, "")
        above = {column: cells[column] for column in merged if column < len(cells)}
        if any(cells):
            yield FileRow(index + 1, tuple(cells))


def _merged_columns(sheet: CalamineSheet) -> dict[int, list[tuple[int, int]]]:
    """Return the first and last rows of cells that are merged over several rows, by column."""
    merged: dict[int, list[tuple[int, int]]] = {}
    for (first, column), (last, _last_column) in sheet.merged_cell_ranges or ():
        if last > first:
            merged.setdefault(column, []).append((first, last))
    return merged


def text_of(value: object) -> str:
    """Return the text of a cell: a whole number without decimals, a date as ``2026-11-03``, yes or no."""
    match value:
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value).upper()
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
        case date():
            return value.isoformat()
        case time():
            return value.isoformat("minutes")
        case timedelta():
            return str(value)
        case _:
            return str(value)
