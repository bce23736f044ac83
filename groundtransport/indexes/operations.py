"""``op.index_records``: what makes and removes it all in a migration, and lets Alembic notice what is missing."""

import sys
from typing import Any

from alembic.autogenerate import comparators, renderers
from alembic.operations import MigrateOperation, Operations
from alembic.util.langhelpers import DispatchPriority
from sqlalchemy import text

from groundtransport.indexes import build, postgresql
from groundtransport.indexes.spec import TableSpec, lacking, of_searches


class OfRecords(MigrateOperation):
    """What is done to the table of a kind; its facts are written out in the migration."""

    def __init__(self, facts: TableSpec) -> None:
        super().__init__()
        self.facts = facts

    @classmethod
    def on(
        cls,
        operations: Operations,
        table: str,
        *,
        sorts: dict[str, str],
        counted_by: str | None,
        soft: bool,
        gaps: dict[str, list[str]] | None = None,
    ) -> Any:
        return operations.invoke(cls(TableSpec(table, sorts, counted_by, soft, gaps or {})))


@Operations.register_operation("index_records", "on")
class IndexRecords(OfRecords):
    """Give the table of a kind its indexes, its search index and its counters; what is there already stays."""

    def reverse(self) -> "UnindexRecords":
        return UnindexRecords(self.facts)

    def to_diff_tuple(self) -> tuple[str, str]:
        return ("index_records", self.facts.table)


@Operations.register_operation("unindex_records", "on")
class UnindexRecords(OfRecords):
    """Take all of it away again."""

    def reverse(self) -> IndexRecords:
        return IndexRecords(self.facts)


@Operations.implementation_for(IndexRecords)
def index_records(operations: Operations, operation: IndexRecords) -> None:
    connection, facts = operations.get_bind(), operation.facts
    has_rows = connection.scalar(text(f"SELECT EXISTS (SELECT 1 FROM {facts.table})"))
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            f"ALTER TABLE {facts.table} ALTER COLUMN search_text SET STATISTICS {postgresql.STATISTICS}"
        )
        if connection.scalar(text(f"SELECT EXISTS (SELECT 1 FROM {facts.table})")):  # of a migration
            with operations.get_context().autocommit_block():  # others go on writing meanwhile
                build.create_indexes_concurrently(operations.get_bind(), facts, say)
            connection = operations.get_bind()
            connection.exec_driver_sql(f"LOCK TABLE {facts.table} IN SHARE ROW EXCLUSIVE MODE")
    build.create(connection, facts, say if has_rows else lambda _: None)
    connection.exec_driver_sql(f"ANALYZE {facts.table}")


@Operations.implementation_for(UnindexRecords)
def unindex_records(operations: Operations, operation: UnindexRecords) -> None:
    build.drop(operations.get_bind(), operation.facts)


def say(line: str) -> None:
    """Tell the operator who waits how far it is."""
    print(f"  {line}", file=sys.stderr, flush=True)


@comparators.dispatch_for("schema", priority=DispatchPriority.LAST)  # after the tables themselves
def compare(context: Any, upgrade_ops: Any, schemas: Any) -> None:
    """Add an operation for each kind's table that lacks something."""
    for facts in build.every_table(context.metadata):
        if build.missing(context.connection, facts):
            upgrade_ops.ops.append(IndexRecords(facts))


@renderers.dispatch_for(IndexRecords)
def render(context: Any, operation: IndexRecords) -> str:
    return _render("index_records", operation.facts)


@renderers.dispatch_for(UnindexRecords)
def render_reverse(context: Any, operation: UnindexRecords) -> str:
    return _render("unindex_records", operation.facts)


def _render(name: str, facts: TableSpec) -> str:
    given: dict[str, Any] = {"sorts": dict(facts.sorts), "counted_by": facts.counted_by, "soft": facts.soft}
    if facts.gaps:
        given["gaps"] = {gap: list(columns) for gap, columns in facts.gaps.items()}
    return f"op.{name}({facts.table!r}, {', '.join(f'{key}={value!r}' for key, value in given.items())})"


def is_ours(name: str | None, kind: str, parents: Any, *, tables: Any) -> bool:
    """Whether autogenerate shall look at a thing of the database: not at a plug-in's table, nor at a table's parts."""
    if kind == "table":
        return name in tables
    if kind == "index":
        table = parents.get("table_name") or ""
        name = name or ""
        ours = name.startswith((f"ix_{table}_by_", lacking(table, "")))
        return not (ours or name in (f"ix_{table}_deleted", *of_searches(table)))
    return True
