"""The step of ``groundtransport init`` that keeps the ids of a kind unique after its table was created anew.

The activity log, notes and rejected duplicates name records by kind and id; they stay when a downgrade drops the table.
"""

from sqlalchemy import Connection, exists, func, select, text

from groundtransport import db, kinds
from groundtransport.audit.models import AdminActivity
from groundtransport.cli.context import CommandContext
from groundtransport.records.kind import Kind

SQLITE = (
    "DELETE FROM sqlite_sequence WHERE name = :name AND seq < :last",
    "INSERT INTO sqlite_sequence (name, seq) SELECT :name, :last"
    " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)",
)
POSTGRESQL = (
    "SELECT setval(pg_get_serial_sequence(:name, 'id'), :last)"
    " WHERE nextval(pg_get_serial_sequence(:name, 'id')) <= :last",
)


def continue_numbers(context: CommandContext) -> None:
    """Let the ids of each kind without records begin behind the last one that the activity log names."""
    with db.write_engine(context.engine).begin() as connection:
        for kind in kinds.kinds().values():
            if last := last_logged(connection, kind):
                for statement in SQLITE if connection.dialect.name == "sqlite" else POSTGRESQL:
                    connection.execute(text(statement), {"name": kind.table, "last": last})


def last_logged(connection: Connection, kind: Kind) -> int:
    """Return the largest id of a kind in the activity log; 0 if there is none, or if the table has rows."""
    if connection.scalar(select(exists(select(kind.model.id)))):
        return 0
    return connection.scalar(select(func.max(AdminActivity.record_id)).where(AdminActivity.kind == kind.name)) or 0
