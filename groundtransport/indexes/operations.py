"""``op.create_derived``: what autogenerate writes into a migration for a kind's indexes, triggers and search tables.

The migration holds the statements themselves, for both databases, so that it does the same in years to come, and its
downgrade removes just what it made.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

from alembic.autogenerate import comparators, renderers
from alembic.ddl import sqlite as alembic_sqlite
from alembic.operations import MigrateOperation, Operations
from alembic.util.langhelpers import DispatchPriority
from sqlalchemy import text

from groundtransport.indexes import build, postgresql
from groundtransport.indexes.spec import TableSpec, lacking, of_searches

# By dialect: pairs of a statement and the one that undoes it; "" where there is nothing to undo.
Statements = Mapping[str, Sequence[tuple[str, str]]]
_INDEX = "CREATE INDEX "


class OfDerived(MigrateOperation):
    """What is done to the derived parts of a kind's table, by the statements that stand in the migration."""

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
        return operations.invoke(cls(table, {"sqlite": sqlite, "postgresql": postgresql}))


@Operations.register_operation("create_derived", "on")
class CreateDerived(OfDerived):
    """Make derived parts of a kind's table."""

    def reverse(self) -> "DropDerived":
        return DropDerived(self.table, self.statements)

    def to_diff_tuple(self) -> tuple[str, str]:
        return ("create_derived", self.table)


@Operations.register_operation("drop_derived", "on")
class DropDerived(OfDerived):
    """Remove the same parts; whatever else the table has stays."""

    def reverse(self) -> CreateDerived:
        return CreateDerived(self.table, self.statements)


@Operations.implementation_for(CreateDerived)
def create_derived(operations: Operations, operation: CreateDerived) -> None:
    """Make the parts; on PostgreSQL with rows, the indexes CONCURRENTLY, and then the rest under a lock."""
    connection = operations.get_bind()
    pairs = list(operation.statements[connection.dialect.name])
    if connection.dialect.name == "postgresql":
        if connection.scalar(text(f"SELECT EXISTS (SELECT 1 FROM {operation.table})")):
            indexes = [pair for pair in pairs if pair[0].startswith(_INDEX)]
            with operations.get_context().autocommit_block():  # others go on writing meanwhile
                _create(operations.get_bind(), [_concurrently(*pair) for pair in indexes])
            pairs = [pair for pair in pairs if pair not in indexes]
            connection = operations.get_bind()
        if pairs:
            connection.execute(text(f"LOCK TABLE {operation.table} IN SHARE ROW EXCLUSIVE MODE"))
    _create(connection, pairs)
    connection.execute(text(f"ANALYZE {operation.table}"))


def _concurrently(create: str, undo: str) -> tuple[str, str]:
    """Return the statements that let others write meanwhile, for PostgreSQL."""
    return (
        create.replace(_INDEX, "CREATE INDEX CONCURRENTLY ", 1),
        undo.replace("DROP INDEX ", "DROP INDEX CONCURRENTLY ", 1),
    )


def _create(connection: Any, pairs: Sequence[tuple[str, str]]) -> None:
    """Make each part, and before that remove what a run that was stopped left of it."""
    for create, undo in pairs:
        if named := re.match(r"CREATE INDEX (?:CONCURRENTLY )?(\w+)", create):
            say(named[1])
        for statement in (undo, create) if undo != create else (create,):
            if statement:
                connection.execute(text(statement))


@Operations.implementation_for(DropDerived)
def drop_derived(operations: Operations, operation: DropDerived) -> None:
    connection = operations.get_bind()
    for _statement, undo in reversed(operation.statements[connection.dialect.name]):
        if undo:
            connection.execute(text(undo))


def say(line: str) -> None:
    """Tell the operator who waits how far it is."""
    print(f"  {line}", file=sys.stderr, flush=True)


@comparators.dispatch_for("schema", priority=DispatchPriority.LAST)  # after the tables themselves
def compare(context: Any, upgrade_ops: Any, schemas: Any) -> None:
    """Add an operation for each kind's table that lacks something."""
    for facts in build.every_table(context.metadata):
        names = {part.name for part in build.missing(context.connection, facts)}
        if names:
            is_new = not build.existing(context.connection, facts.table)
            upgrade_ops.ops.append(CreateDerived(facts.table, statements(facts, None if is_new else names)))


def statements(facts: TableSpec, names: set[str] | None) -> Statements:
    """Return what makes and what removes the parts of these names on either database; all parts for None."""
    return {name: list(_pairs(module, facts, names)) for name, module in build.DIALECTS.items()}


def _pairs(module: Any, facts: TableSpec, names: set[str] | None) -> Iterator[tuple[str, str]]:
    parts = [part for part in module.parts(facts) if names is None or part.name in names]
    if names is None and module is postgresql:
        yield f"ALTER TABLE {facts.table} ALTER COLUMN search_text SET STATISTICS {postgresql.STATISTICS}", ""
    for part in parts:
        yield dedent(part.create).strip(), part.drop
    if any(part.kind != "index" for part in parts):  # then the counters and the search table are filled
        for statement in module.fill(facts):
            filled = dedent(statement).strip()
            yield filled, filled if filled.startswith("DELETE FROM ") else ""


@renderers.dispatch_for(CreateDerived)
def render(context: Any, operation: CreateDerived) -> str:
    return _render("create_derived", operation)


@renderers.dispatch_for(DropDerived)
def render_reverse(context: Any, operation: DropDerived) -> str:
    return _render("drop_derived", operation)


def _render(name: str, operation: OfDerived) -> str:
    """Return a call with its statements, a line of SQL a line."""
    lines = [f"op.{name}(", f"    {operation.table!r},"]
    for dialect, pairs in operation.statements.items():
        lines += [f"    {dialect}=[", *(line for pair in pairs for line in _literal(*pair)), "    ],"]
    return "\n".join([*lines, ")"])


def _literal(create: str, undo: str) -> Iterator[str]:
    """Yield the lines of a pair as Python writes it: adjacent texts are one."""
    *first, last = create.splitlines(keepends=True)
    yield "        ("
    yield from (f"            {line!r}" for line in first)
    yield f"            {last!r},"
    yield f"            {undo!r},"
    yield "        ),"


class SQLiteImpl(alembic_sqlite.SQLiteImpl):
    """Drop a column in place, as SQLite can since 3.35: the copy of a table would lack its triggers and indexes."""

    __dialect__ = "sqlite"

    def requires_recreate_in_batch(self, batch_op: Any) -> bool:
        others = [one for one in batch_op.batch if one[0] != "drop_column"]
        return bool(others) and super().requires_recreate_in_batch(SimpleNamespace(batch=others))  # type: ignore[arg-type]


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


# What autogenerate wrote until revision 0013 into the migrations of a deployment's own kinds: still known, not written.


class OfRecords(MigrateOperation):
    """What is done to the table of a kind by today's code; the migration names the columns."""

    def __init__(self, facts: TableSpec) -> None:
        super().__init__()
        self.facts = facts

    @classmethod
    def on(
        cls, operations: Operations, table: str, *, sorts: Any, counted_by: Any, soft: bool, gaps: Any = None
    ) -> Any:
        return operations.invoke(cls(TableSpec(table, sorts, counted_by, soft, gaps or {})))


@Operations.register_operation("index_records", "on")
class IndexRecords(OfRecords):
    """Make every derived part of a kind's table that is missing."""


@Operations.register_operation("unindex_records", "on")
class UnindexRecords(OfRecords):
    """Remove every derived part of a kind's table."""


@Operations.implementation_for(IndexRecords)
def index_records(operations: Operations, operation: IndexRecords) -> None:
    build.create(operations.get_bind(), operation.facts, say)


@Operations.implementation_for(UnindexRecords)
def unindex_records(operations: Operations, operation: UnindexRecords) -> None:
    build.drop(operations.get_bind(), operation.facts)
