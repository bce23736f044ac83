"""The texts of a row by field: cells by the mapping, a person's decisions, defaults, and the airport's code."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from groundtransport.airports.names import bracketed, code_of
from groundtransport.i18n import _
from groundtransport.records.fields.base import BLANKS
from groundtransport.records.kind import Kind
from groundtransport.transfer.plan_types import AIRPORT_CODE, FURTHER_COLUMNS, ID, CellProblem, ImportOptions
from groundtransport.transfer.reading.source_file import FileRow

AIRPORT_NAME = "airport_name"
_BAD_BYTES = re.compile("[\udc80-\udcff]")  # surrogates: see reading/csv_rows.py
_ROUNDED = re.compile(r"[+-]?[0-9](?:[.,][0-9]+)?[Ee]\+[0-9]+")
_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}

ROUNDED = _("A spreadsheet has rounded this number; its digits are lost. Format the column as text.")
EXCEL_ERROR = _("The cell holds an error of the spreadsheet.")
BAD_BYTES = _("The row is not valid UTF-8, or not in the chosen encoding.")
TOO_WIDE = _("The row has more cells than the header. Perhaps a text with a delimiter needs quotation marks.")


@dataclass(frozen=True)
class RowTexts:
    """The texts of a row. A field that the row leaves alone is absent; "" clears one.

    ``airport_name`` holds a code in brackets if any column gives one; ``airport_from`` is the field of that column.
    """

    row: FileRow
    texts: Mapping[str, str]
    problems: tuple[CellProblem, ...]
    airport_from: str = AIRPORT_NAME

    @property
    def code(self) -> str:
        """The airport's code in upper case, "" without one."""
        return code_of(self.texts.get(AIRPORT_NAME, "")) or ""


class TextReader:
    """Reads the texts of rows by the options of an import: of all fields, or of those in ``names``."""

    def __init__(self, kind: Kind, options: ImportOptions, names: Collection[str] = ()) -> None:
        known = {*names} or {*kind.fields, *FURTHER_COLUMNS}
        self.options = options
        self.fields = kind.fields
        self.columns = {name: index for index, name in sorted(options.mapping.items()) if name in known}
        self.defaults = {name: text for name, text in options.defaults.items() if name in known and text}

    def read(self, row: FileRow) -> RowTexts:
        """Return the texts of a row, with the problems of its cells as they stand."""
        texts, problems = dict(self.defaults), []
        is_suspicious = _is_suspicious("\n".join(row.cells))
        for name, text in self._cells(row):
            if is_suspicious and (problem := self._problem(name, text)):
                if not self.is_dropped(problem):
                    problems.append(problem)
            elif text.strip(BLANKS) or (self.options.clears_empty_cells and name not in self.defaults):
                texts[name] = text
        if row.is_too_wide:
            problems.append(CellProblem("", None, "", TOO_WIDE))
        airport_from = _resolve_airport(texts)
        return RowTexts(row, texts, tuple(problems), airport_from)

    def column(self, name: str) -> int | None:
        """Return the column of a field; None if its text is no cell."""
        return self.columns.get(name)

    def cell(self, row: FileRow, name: str) -> str:
        """Return a field's cell as it stands in the file; "" if there is none."""
        index = self.columns.get(name)
        return row.cells[index] if index is not None and index < len(row.cells) else ""

    def is_dropped(self, problem: CellProblem) -> bool:
        """Return True if a person dropped the cells with this reason."""
        return problem.can_drop and (problem.field, problem.code) in self.options.decisions.dropped_reasons

    def _cells(self, row: FileRow) -> Iterator[tuple[str, str]]:
        """Yield the fields and texts of the columns, replaced as a person decided, without those left out."""
        decisions = self.options.decisions
        for name, index in self.columns.items():
            if index < len(row.cells) and (row.line, name) not in decisions.dropped_cells:
                text = row.cells[index]
                if (name, text) in decisions.replacements:
                    text = decisions.replacements[name, text]
                elif self.options.joins_lines and "\n" in text and name in self.fields:
                    text = self.fields[name].joined(text)
                yield name, text

    def _problem(self, name: str, text: str) -> CellProblem | None:
        """Return why a cell cannot be what somebody wrote; None if it can."""
        reason = ""
        if not text.isascii() and _BAD_BYTES.search(text):
            reason = BAD_BYTES
        elif text.strip() in _ERRORS:
            reason = EXCEL_ERROR
        elif _ROUNDED.fullmatch(text.strip()):
            reason = ROUNDED
        return CellProblem(name, self.column(name), text, reason, can_drop=name not in KEYS) if reason else None


def _is_suspicious(text: str) -> bool:
    """Return False if no cell of a row with this text can have a problem of ``_problem``: that is quickly seen."""
    return "#" in text or "E+" in text or "e+" in text or (not text.isascii() and bool(_BAD_BYTES.search(text)))


KEYS = {ID, AIRPORT_CODE, AIRPORT_NAME}


def _resolve_airport(texts: dict[str, str]) -> str:
    """Put the airport's code into ``airport_name``: its own, else that of the code column; return where it is from."""
    for name in (AIRPORT_NAME, AIRPORT_CODE):
        text = bracketed(texts.get(name, ""))
        if code_of(text):
            texts[AIRPORT_NAME] = text
            return name
    if texts.get(AIRPORT_CODE) and not texts.get(AIRPORT_NAME):
        texts[AIRPORT_NAME] = f"({texts[AIRPORT_CODE].strip()})"
        return AIRPORT_CODE
    return AIRPORT_NAME
