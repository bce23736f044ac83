"""Specification of a kind's table: the columns by which records are sorted and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Column, ColumnElement, String, Table, Text
from sqlalchemy.ext.compiler import compiles

from groundtransport.db.functions import sort_text
from groundtransport.text import fold

BLOCK = 4096  # ids in a block; the counts of blocks locate the n-th record
# Characters by which longer texts are sorted: an entry of PostgreSQL's indexes has at most 2,704 bytes.
SORT_MAX = 300
# The type of the columns that hold folded texts: compared by code points, as SQLite and Python compare.
FOLDED_TEXT = Text().with_variant(Text(collation="C"), "postgresql")
NUMBER, TEXT, LONG = "number", "text", "long"
UNSORTED = {"airport_id", "search_text", "form_token", "source", "source_id", "verified_by"}
UNSORTED |= {"deleted_at", "deleted_by", "merged_into", "other_place"}


@dataclass(frozen=True)
class TableSpec:
    """The table of a kind. ``sorts`` maps each column with an index for sorting to its type: NUMBER, TEXT or LONG.

    A column with ``info={"folded": True}`` is sorted by another one, which holds its folded text (``sort_column``).

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
        sortable = [column for column in table.columns if column.key not in UNSORTED and "folded" not in column.info]
        sorts = {column.key: _sort_type(column) for column in sortable}
        counted = [column.key for column in table.columns if column.info.get("counted")]
        gaps: dict[str, list[str]] = {}
        for column in table.columns:
            if "gap" in column.info:
                gaps.setdefault(column.info["gap"], []).append(sort_column(column).key)
        return cls(table.name, sorts, counted[0] if counted else None, "deleted_at" in table.columns, gaps)


_SPECS: WeakKeyDictionary[Table, TableSpec] = WeakKeyDictionary()


def mark(table: Table) -> None:
    """Register the table of a kind, and add the columns of folded texts.

    (``table.info`` would not do: Alembic writes it into migrations.)
    """
    for column in [column for column in table.columns if "folded" in column.info]:
        table.append_column(Column(f"{column.key}_folded", FOLDED_TEXT, info={"fold_of": column.key}))
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


def sort_column(column: Any) -> Any:
    """Return the column by which a column of a kind's table is sorted: itself, or that of its folded text."""
    return column.table.c[f"{column.key}_folded"] if "folded" in column.info else column


def folded_texts(table: Table, values: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the columns of folded texts for those of a record's ``values`` that are sorted by them."""
    return {name: fold_for_sort(values[source]) for name, source in folded_columns(table) if source in values}


@cache
def folded_columns(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the columns of folded texts, each with the column that it is made from."""
    folded = [column for column in table.columns if "fold_of" in column.info]
    return tuple((str(column.key), column.info["fold_of"]) for column in folded)  # orjson takes no quoted_name


def fold_for_sort(text: str | None) -> str | None:
    """Return the text by which a text is sorted; None for None."""
    return None if text is None else fold(text)[:SORT_MAX]


def _sort_type(column: Any) -> str:
    if "fold_of" in column.info or not isinstance(column.type, String | Text):
        return NUMBER
    return TEXT if (column.type.length or SORT_MAX + 1) <= SORT_MAX else LONG


def sort_key(column: Any) -> ColumnElement[Any]:
    """Return the sort expression of a column. It equals the expression of the index, so that the index is used."""
    column = sort_column(column)
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
