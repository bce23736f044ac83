"""Specification of a kind's table: the columns by which records are sorted and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, String, Table, Text
from sqlalchemy.ext.compiler import compiles

from groundtransport.db.functions import sort_text

BLOCK = 4096  # ids in a block; the counts of blocks locate the n-th record
# Characters by which PostgreSQL sorts longer texts: an index entry has at most 2,704 bytes.
SORT_MAX = 300
NUMBER, TEXT, LONG = "number", "text", "long"
UNSORTED = {"airport_id", "search_text", "form_token", "deleted_at", "deleted_by"}


@dataclass(frozen=True)
class TableSpec:
    """The table of a kind. ``sorts`` maps each sortable column to its sort type, NUMBER, TEXT or LONG.

    ``counted_by`` is the column by which live records are counted besides the airport. ``soft`` is True if the table
    has ``deleted_at``. ``gaps`` maps a name to columns that count as missing only if all of them are NULL; for a single
    column the index for sorting serves.
    """

    table: str
    sorts: Mapping[str, str]
    counted_by: str | None
    soft: bool
    gaps: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table) -> "TableSpec":
        """Return the specification of a model's table.

        A column says by ``info={"counted": True}`` that it is counted by, and by ``info={"gap": NAME}`` that it and the
        others of that name are missed together.
        """
        sorts = {column.key: _sort_type(column) for column in table.columns if column.key not in UNSORTED}
        counted = [column.key for column in table.columns if column.info.get("counted")]
        gaps: dict[str, list[str]] = {}
        for column in table.columns:
            if "gap" in column.info:
                gaps.setdefault(column.info["gap"], []).append(column.key)
        return cls(table.name, sorts, counted[0] if counted else None, "deleted_at" in table.columns, gaps)


_SPECS: WeakKeyDictionary[Table, TableSpec] = WeakKeyDictionary()


def mark(table: Table) -> None:
    """Register the table of a kind. (``table.info`` would not do: Alembic writes it into migrations.)"""
    _SPECS[table] = TableSpec.of(table)


def spec_of(table: Table) -> TableSpec | None:
    """Return the specification of a kind's table; None for any other."""
    return _SPECS.get(table)


def hint_for(table: Table, gap: str) -> str:
    """Return SQLite's hint to use the index of a gap, "" without one; unhinted, SQLite prefers the search index."""
    spec = spec_of(table)
    return f"INDEXED BY {lacking(table.name, gap)}" if spec and gap in spec.gaps else ""


def lacking(table: str, gap: str) -> str:
    """Return the name of the index of a gap, of the rows whose columns in it are all NULL."""
    return f"ix_{table}_lacks_{gap}"


def of_searches(table: str) -> tuple[str, str]:
    """Return the names of PostgreSQL's search indexes: of trigrams, and of rare symbols."""
    return f"ix_{table}_search", f"ix_{table}_rare_signs"


def _sort_type(column: Any) -> str:
    if not isinstance(column.type, String | Text):
        return NUMBER
    return TEXT if (column.type.length or SORT_MAX + 1) <= SORT_MAX else LONG


def sort_key(column: Any) -> ColumnElement[Any]:
    """Return the sort expression of a column. It equals the expression of the index, so that the index is used."""
    sort_type = _sort_type(column)
    if sort_type == NUMBER:
        return column
    return sort_text(column) if sort_type == TEXT else sort_long_text(column)


class sort_long_text(sort_text):  # noqa: N801  # named like an SQL function
    """Sort key of a text that may be too long for PostgreSQL's index, sorted there by SORT_MAX characters."""

    inherit_cache = True


@compiles(sort_long_text, "postgresql")
def _sort_long_text(element: Any, compiler: Any, **options: Any) -> str:
    return f'lower(substr({compiler.process(element.clauses, **options)}, 1, {SORT_MAX}) COLLATE "C")'
