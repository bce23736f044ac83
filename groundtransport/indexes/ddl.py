"""One thing that a table has besides its columns: an index, a trigger, a function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from groundtransport.indexes.spec import TableSpec, lacking


@dataclass(frozen=True)
class Part:
    """``kind`` is SQL's word for it; ``create`` makes it."""

    kind: str
    name: str
    create: str
    on: str = ""  # what DROP TRIGGER must name on PostgreSQL

    @property
    def drop(self) -> str:
        on = f" ON {self.on}" if self.on else ""
        return f"DROP {self.kind.upper()} IF EXISTS {self.name}{on}"

    @property
    def create_concurrently(self) -> str:
        """The statement that hinders no writer, for PostgreSQL; only an index has one."""
        return self.create.replace("CREATE INDEX ", "CREATE INDEX CONCURRENTLY ", 1)


def gap_indexes(facts: TableSpec, key: Callable[[str, str], str]) -> Iterator[Part]:
    """Yield the indexes of the rows that have nothing in a gap's columns; ``key`` is what lists sort a column by."""
    for gap, columns in facts.gaps.items():
        name = lacking(facts.table, gap)
        live = ["deleted_at IS NULL"] if facts.soft else []
        where = " AND ".join([*live, *(f"{key(column, facts.sorts[column])} IS NULL" for column in columns)])
        yield Part("index", name, f"CREATE INDEX {name} ON {facts.table} (id) WHERE {where}")
