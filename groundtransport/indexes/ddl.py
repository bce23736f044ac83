"""DDL of a derived object: an index, a trigger, a function or a table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from groundtransport.indexes.spec import TableSpec, lacking


@dataclass(frozen=True)
class Part:
    """A derived object. ``kind`` is its SQL keyword in lower case, ``create`` the statement that creates it."""

    kind: str
    name: str
    create: str
    on: str = ""  # the table that DROP TRIGGER names on PostgreSQL

    @property
    def drop(self) -> str:
        """Return the statement that removes the object if it exists."""
        on = f" ON {self.on}" if self.on else ""
        return f"DROP {self.kind.upper()} IF EXISTS {self.name}{on}"


def sort_indexes(spec: TableSpec, columns: Callable[[str, str], str]) -> Iterator[Part]:
    """Yield the index of each sort, of the live rows.

    ``columns`` returns what follows the table in CREATE INDEX, for a column name and its sort type.
    """
    live = " WHERE deleted_at IS NULL" if spec.soft else ""
    for column, sort_type in spec.sorts.items():
        name = f"ix_{spec.table}_by_{column}"
        yield Part("index", name, f"CREATE INDEX {name} ON {spec.table} {columns(column, sort_type)}{live}")


def gap_indexes(spec: TableSpec, key: Callable[[str, str], str]) -> Iterator[Part]:
    """Yield an index for each gap, of the live rows whose columns in the gap are all NULL.

    ``key`` returns the sort expression for a column name and its sort type.
    """
    for gap, columns in spec.gaps.items():
        name = lacking(spec.table, gap)
        live = ["deleted_at IS NULL"] if spec.soft else []
        where = " AND ".join([*live, *(f"{key(column, spec.sorts[column])} IS NULL" for column in columns)])
        yield Part("index", name, f"CREATE INDEX {name} ON {spec.table} (id) WHERE {where}")
