"""Alembic operation ``op.create_derived``, which autogenerate writes for the derived objects of a kind's table.

The migration contains the SQL statements for both databases. So it does not depend on later code, and its downgrade
removes exactly what it created.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent
from types import ModuleType, SimpleNamespace
from typing import Any

from alembic.autogenerate import comparators, renderers
from alembic.autogenerate.api import AutogenContext
from alembic.ddl import sqlite as alembic_sqlite
from alembic.operations import MigrateOperation, Operations
from alembic.operations.ops import UpgradeOps
from alembic.util.langhelpers import DispatchPriority
from sqlalchemy import Connection, text

from groundtransport.indexes import build, postgresql
from groundtransport.indexes.spec import TableSpec, lacking

# By dialect: pairs of a statement and the statement that undoes it, or "".
Statements = Mapping[str, Sequence[tuple[str, str]]]
_INDEX = "CREATE INDEX "


class DerivedOperation(MigrateOperation):
    """Base of operations on the derived objects of a table, with the statements in the migration."""

    def __init__(self, table: str, statements: Statements) -> None:
        super().__init__()
        self.table, self.statements = table, statements

    @classmethod
    def on(
        cls,
        operations: Operations,
        table: str,
        *,
        sqlite: Sequence[tuple[str, str]],
        postgresql: Sequence[tuple[str, str]],
    ) -> Any:
        """Run the operation: ``op.create_derived(...)``, ``op.drop_derived(...)``."""
        return operations.invoke(cls(table, {"sqlite": sqlite, "postgresql": postgresql}))


@Operations.register_operation("create_derived", "on")
class CreateDerived(DerivedOperation):
    """Create derived objects of a kind's table."""

    def reverse(self) -> "DropDerived":
        return DropDerived(self.table, self.statements)

    def to_diff_tuple(self) -> tuple[str, str]:
        return ("create_derived", self.table)


@Operations.register_operation("drop_derived", "on")
class DropDerived(DerivedOperation):
    """Remove the derived objects that the same statements create."""

    def reverse(self) -> CreateDerived:
        return CreateDerived(self.table, self.statements)


@Operations.implementation_for(CreateDerived)
def create_derived(operations: Operations, operation: CreateDerived) -> None:
    """Create the objects; on PostgreSQL with rows, first the indexes CONCURRENTLY, then the rest locked."""
    connection = operations.get_bind()
    pairs = list(operation.statements[connection.dialect.name])
    if connection.dialect.name == "postgresql":
        if connection.scalar(text(f"SELECT EXISTS (SELECT 1 FROM {operation.table})")):
            indexes = [pair for pair in pairs if pair[0].startswith(_INDEX)]
            with operations.get_context().autocommit_block():  # does not block writers
                _create(operations.get_bind(), [_concurrently(*pair) for pair in indexes])
            pairs = [pair for pair in pairs if pair not in indexes]
            connection = operations.get_bind()
        if pairs:
            connection.execute(text(f"LOCK TABLE {operation.table} IN SHARE ROW EXCLUSIVE MODE"))
    _create(connection, pairs)
    connection.execute(text(f"ANALYZE {operation.table}"))


def _concurrently(create: str, undo: str) -> tuple[str, str]:
    """Return the pair with CONCURRENTLY, which does not block writers."""
    return (
        create.replace(_INDEX, "CREATE INDEX CONCURRENTLY ", 1),
        undo.replace("DROP INDEX ", "DROP INDEX CONCURRENTLY ", 1),
    )


def _create(connection: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Create each object, after removing what an interrupted run left of it."""
    for create, undo in pairs:
        if named := re.match(r"CREATE INDEX (?:CONCURRENTLY )?(\w+)", create):
            say(named[1])
        for statement in (undo, create) if undo != create else (create,):
            if statement:
                connection.execute(text(statement))


@Operations.implementation_for(DropDerived)
def drop_derived(operations: Operations, operation: DropDerived) -> None:
    """Undo the statements in reverse order."""
    connection = operations.get_bind()
    for _statement, undo in reversed(operation.statements[connection.dialect.name]):
        if undo:
            connection.execute(text(undo))


def say(line: str) -> None:
    """Print a line of progress for the operator."""
    print(f"  {line}", file=sys.stderr, flush=True)


@comparators.dispatch_for("schema", priority=DispatchPriority.LAST)  # after the tables themselves
def compare(context: Any, upgrade_ops: UpgradeOps, schemas: object) -> None:
    """Add an operation for each kind's table that lacks derived objects (autogenerate)."""
    for spec in build.every_table(context.metadata):
        names = {part.name for part in build.missing(context.connection, spec)}
        if names:
            is_new = not build.existing(context.connection, spec.table)
            upgrade_ops.ops.append(CreateDerived(spec.table, statements(spec, None if is_new else names)))


def statements(spec: TableSpec, names: set[str] | None) -> Statements:
    """Return the statements for the derived objects with these names; for all of them if ``names`` is None."""
    return {name: list(_pairs(module, spec, names)) for name, module in build.DIALECTS.items()}


def _pairs(module: ModuleType, spec: TableSpec, names: set[str] | None) -> Iterator[tuple[str, str]]:
    parts = [part for part in module.parts(spec) if names is None or part.name in names]
    if names is None and module is postgresql:
        yield f"ALTER TABLE {spec.table} ALTER COLUMN search_text SET STATISTICS {postgresql.STATISTICS}", ""
    for part in parts:
        yield dedent(part.create).strip(), part.drop
    if any(part.kind != "index" for part in parts):  # fill the counters and the search table
        for statement in module.fill(spec):
            sql = dedent(statement).strip()
            yield sql, sql if sql.startswith("DELETE FROM ") else ""


@renderers.dispatch_for(CreateDerived)
def render(context: AutogenContext, operation: CreateDerived) -> str:
    """Render the operation for a migration file."""
    return _render("create_derived", operation)


@renderers.dispatch_for(DropDerived)
def render_reverse(context: AutogenContext, operation: DropDerived) -> str:
    """Render the removal for a migration file."""
    return _render("drop_derived", operation)


def _render(name: str, operation: DerivedOperation) -> str:
    """Return the Python source of the operation, with each line of SQL on a line of its own."""
    lines = [f"op.{name}(", f"    {operation.table!r},"]
    for dialect, pairs in operation.statements.items():
        lines += [f"    {dialect}=[", *(line for pair in pairs for line in _literal(*pair)), "    ],"]
    return "\n".join([*lines, ")"])


def _literal(create: str, undo: str) -> Iterator[str]:
    """Yield the source lines of a pair, as adjacent string literals."""
    *first, last = create.splitlines(keepends=True)
    yield "        ("
    yield from (f"            {line!r}" for line in first)
    yield f"            {last!r},"
    yield f"            {undo!r},"
    yield "        ),"


class SQLiteImpl(alembic_sqlite.SQLiteImpl):
    """Drops columns in place, as SQLite can since 3.35. Alembic's copy of the table would lack triggers and indexes."""

    __dialect__ = "sqlite"

    def requires_recreate_in_batch(self, batch_op: Any) -> bool:
        others = [change for change in batch_op.batch if change[0] != "drop_column"]
        batch: Any = SimpleNamespace(batch=others)  # Alembic's method reads this attribute only
        return bool(others) and super().requires_recreate_in_batch(batch)


def is_ours(name: str | None, kind: str, parents: Any, *, tables: Any) -> bool:
    """Return True if autogenerate must compare an object; False for foreign tables and for derived indexes."""
    if kind == "table":
        return name in tables
    if kind == "index":
        table = parents.get("table_name") or ""
        name = name or ""
        is_derived = name.startswith((f"ix_{table}_by_", lacking(table, "")))
        return not (is_derived or name in (f"ix_{table}_deleted", f"ix_{table}_search"))
    return True


# Operations that autogenerate wrote until revision 0013. Migrations of a deployment's own kinds may still call them.


class RecordsOperation(MigrateOperation):
    """Base of operations on a table by the current code; the migration only names the columns."""

    def __init__(self, spec: TableSpec) -> None:
        super().__init__()
        self.spec = spec

    @classmethod
    def on(
        cls, operations: Operations, table: str, *, sorts: Any, counted_by: Any, soft: bool, gaps: Any = None
    ) -> Any:
        return operations.invoke(cls(TableSpec(table, sorts, counted_by, soft, gaps or {})))


@Operations.register_operation("index_records", "on")
class IndexRecords(RecordsOperation):
    """Create the missing derived objects of a kind's table."""


@Operations.register_operation("unindex_records", "on")
class UnindexRecords(RecordsOperation):
    """Remove all derived objects of a kind's table."""


@Operations.implementation_for(IndexRecords)
def index_records(operations: Operations, operation: IndexRecords) -> None:
    """Run ``op.index_records``."""
    build.create(operations.get_bind(), operation.spec, say)


@Operations.implementation_for(UnindexRecords)
def unindex_records(operations: Operations, operation: UnindexRecords) -> None:
    """Run ``op.unindex_records``."""
    build.drop(operations.get_bind(), operation.spec)
