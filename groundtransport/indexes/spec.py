"""Which columns of a table are sorted and counted by: taken from its model, or from a migration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, String, Table, Text
from sqlalchemy.ext.compiler import compiles

from groundtransport.db.functions import sort_text

BLOCK = 4096  # ids: live records are counted by blocks of so many, to find the n-th one
# PostgreSQL sorts longer texts by so many characters: an entry of its index has room for 2,704 bytes.
SORT_MAX = 300
NUMBER, TEXT, LONG = "number", "text", "long"
UNSORTED = {"airport_id", "search_text", "form_token", "deleted_at", "deleted_by"}


@dataclass(frozen=True)
class TableSpec:
    """The table of a kind. ``sorts`` maps each column that lists are sorted by to NUMBER, TEXT or LONG.

    ``counted_by`` is the column that live records are counted by besides their airport; ``soft`` tells whether the
    table has ``deleted_at``. ``gaps`` maps a name to columns that people miss only when all of them are empty: of a
    single column, the index of its sort knows.
    """

    table: str
    sorts: Mapping[str, str]
    counted_by: str | None
    soft: bool
    gaps: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table) -> "TableSpec":
        """Return the facts of a model's table.

        A column says by ``info={"counted": True}`` that it is counted by, and by ``info={"gap": NAME}`` that it and the
        others of that name are missed together.
        """
        sorts = {column.key: _manner(column) for column in table.columns if column.key not in UNSORTED}
        counted = [column.key for column in table.columns if column.info.get("counted")]
        gaps: dict[str, list[str]] = {}
        for column in table.columns:
            if "gap" in column.info:
                gaps.setdefault(column.info["gap"], []).append(column.key)
        return cls(table.name, sorts, counted[0] if counted else None, "deleted_at" in table.columns, gaps)


_FACTS: WeakKeyDictionary[Table, TableSpec] = WeakKeyDictionary()


def mark(table: Table) -> None:
    """Say that a table is a kind's. (Not in ``table.info``: Alembic writes that into migrations.)"""
    _FACTS[table] = TableSpec.of(table)


def spec_of(table: Table) -> TableSpec | None:
    """Return the facts of a kind's table; None for any other."""
    return _FACTS.get(table)


def hint_for(table: Table, gap: str) -> str:
    """Return the hint by which SQLite reads the index of a gap; else it would rather search than read a short one."""
    facts = spec_of(table)
    return f"INDEXED BY {lacking(table.name, gap)}" if facts and gap in facts.gaps else ""


def lacking(table: str, gap: str) -> str:
    """Return the name of the index of the rows that have nothing in the columns of a gap."""
    return f"ix_{table}_lacks_{gap}"


def of_searches(table: str) -> tuple[str, str]:
    """Return the names of the indexes of searches: of trigrams, and of rare signs."""
    return f"ix_{table}_search", f"ix_{table}_rare_signs"


def _manner(column: Any) -> str:
    if not isinstance(column.type, String | Text):
        return NUMBER
    return TEXT if (column.type.length or SORT_MAX + 1) <= SORT_MAX else LONG


def sort_key(column: Any) -> ColumnElement[Any]:
    """Return what lists are sorted by for a column: the very expression of its index."""
    manner = _manner(column)
    if manner == NUMBER:
        return column
    return sort_text(column) if manner == TEXT else sort_long_text(column)


class sort_long_text(sort_text):  # noqa: N801  # called like a function of SQL
    """A text that may be too long for PostgreSQL's index: sorted by its beginning there."""

    inherit_cache = True


@compiles(sort_long_text, "postgresql")
def _sort_long_text(element: Any, compiler: Any, **options: Any) -> str:
    return f'lower(substr({compiler.process(element.clauses, **options)}, 1, {SORT_MAX}) COLLATE "C")'
