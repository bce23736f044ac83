"""Alembic's operations on PostgreSQL beside running writers; ``alembic/env.py`` imports this module.

``op.create_index`` on a table with rows creates the index CONCURRENTLY: otherwise writers wait until it is built, 600
ms at a million records for an index without entries. CONCURRENTLY ends the transaction of the migration. So that an
upgrade that was stopped can be repeated, a column, table or index that is there as the migration defines it is not
created again.
"""

from contextlib import nullcontext
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations
from alembic.operations.batch import BatchOperationsImpl
from alembic.operations.ops import AddColumnOp, CreateIndexOp, CreateTableOp
from alembic.operations.toimpl import add_column, create_index, create_table

_IS_VALID = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


@Operations.implementation_for(CreateIndexOp, replace=True)
def create_index_beside_writers(operations: Operations, operation: CreateIndexOp) -> None:
    """Create the index, unless it is there; on a table with rows CONCURRENTLY, but not in a batch, which runs later."""
    connection, context = operations.get_bind(), operations.get_context()
    is_later = isinstance(operations.impl, BatchOperationsImpl)
    if not _is_postgresql(operations) or is_later or operation.kw.get("postgresql_concurrently"):
        create_index(operations, operation)
        return
    name, table = str(operation.index_name), operation.table_name
    is_valid = connection.scalar(_IS_VALID, {"name": name})
    if is_valid and _index_columns(connection, table, name) == [str(column) for column in operation.columns]:
        return
    has_rows = connection.scalar(sa.text(f"SELECT EXISTS (SELECT 1 FROM {table})"))  # noqa: S608  # of a migration
    if has_rows:
        operation.kw["postgresql_concurrently"] = True
    with context.autocommit_block() if has_rows else nullcontext():
        if is_valid is False:  # its creation was stopped
            operations.drop_index(name, table, postgresql_concurrently=has_rows)
        create_index(operations, operation)


@Operations.implementation_for(AddColumnOp, replace=True)
def add_missing_column(operations: Operations, operation: AddColumnOp) -> None:
    """Add the column, unless the table has it with the same type."""
    if _is_postgresql(operations):
        dialect, column = operations.get_bind().dialect, operation.column
        present = sa.inspect(operations.get_bind()).get_columns(operation.table_name)
        types = {there["name"]: there["type"].compile(dialect) for there in present}
        if types.get(column.name) == column.type.compile(dialect):
            return
    add_column(operations, operation)


@Operations.implementation_for(CreateTableOp, replace=True)
def create_missing_table(operations: Operations, operation: CreateTableOp) -> sa.Table:
    """Create the table, unless there is one with the same columns; return it."""
    table = operation.to_table(operations.get_context())
    inspector = sa.inspect(operations.get_bind())
    if _is_postgresql(operations) and inspector.has_table(table.name):
        names = [column["name"] for column in inspector.get_columns(table.name)]
        if names == [column.name for column in table.columns]:
            return table
    return create_table(operations, operation)


def _is_postgresql(operations: Operations) -> bool:
    return bool(operations.get_bind().dialect.name == "postgresql")


def _index_columns(connection: sa.Connection, table: str, name: str) -> list[Any]:
    indexes = sa.inspect(connection).get_indexes(table)
    return next((list(index["column_names"]) for index in indexes if index["name"] == name), [])
