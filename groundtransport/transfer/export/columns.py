"""The columns of an export: the fields of a kind, and what identifies and dates a record."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import DELETION, YES
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.validity import VALIDITY

# A value of an XLSX cell. Texts are written as text, whatever they look like.
Cell = str | int | Decimal | date

# Columns besides the fields, before and after them.
FIRST = ("id", "version", "airport_code")
LAST = (VALIDITY, "verified_at", "verified_by", "created_at", "updated_at")
TITLES = {
    "id": _("ID"),
    "version": _("Version"),
    "airport_code": _("Airport Code"),
    VALIDITY: _("Validity"),
    OTHER_PLACE: _("Another place"),
    "verified_at": _("Verified (UTC)"),
    "verified_by": _("Verified by"),
    "created_at": _("Created (UTC)"),
    "updated_at": _("Changed (UTC)"),
    "deleted_at": _("Deleted (UTC)"),
    "deleted_by": _("Deleted by"),
    "merged_into": _("Merged into record"),
}


def plain_text(value: object) -> str:
    """Return the text of a value in a file; times as ISO 8601 with their offset, to the second; "" for None."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "" if value is None else str(value)


def plain_cell(value: object) -> Cell:
    """Return the XLSX cell of a value: numbers stay numbers, all else is text."""
    return value if isinstance(value, int) else plain_text(value)


def _mark(value: object) -> str:
    """Return the text of a mark, in both formats: "yes", or "" for none."""
    return YES if value else ""


@dataclass(frozen=True)
class Column:
    """A column of a file. ``text`` and ``cell`` return a value's text and its XLSX cell; "" for None.

    JSON Lines hold the values as they are.
    """

    name: str
    title: str
    text: Callable[[object], str] = plain_text
    cell: Callable[[object], Cell] = plain_cell


class UnknownColumn(ValueError):
    """A column that a kind does not have."""


def columns_of(kind: Kind, *, deleted: bool = False) -> list[Column]:
    """Return all columns of a kind's export, in order; ``deleted`` adds those of deleted records."""
    fields = [Column(name, node.title, node.text, node.spreadsheet_value) for name, node in kind.fields.items()]
    fields += [Column(name, TITLES[name], _mark, _mark) for name in kind.marks]
    return [*_plain(FIRST), *fields, *_plain((*LAST, *DELETION) if deleted else LAST)]


def _plain(names: Iterable[str]) -> list[Column]:
    return [Column(name, TITLES[name]) for name in names]


def choose(columns: Sequence[Column], names: Sequence[str]) -> list[Column]:
    """Return the columns with these names, in their own order; all for no names. Raise UnknownColumn with a name."""
    unknown = set(names) - {column.name for column in columns}
    if unknown:
        raise UnknownColumn(sorted(unknown)[0])
    return [column for column in columns if not names or column.name in names]
