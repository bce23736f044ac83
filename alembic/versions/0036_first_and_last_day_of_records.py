"""The first and the last day of a record, and the indexes to sort by them"""

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None
PHASE = "expand"

TABLES = ("scheduledbus", "transit")  # a deployment's own kinds have migrations of their own
COLUMNS = ("valid_from", "valid_until")


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in TABLES:
        # Not in a batch: SQLite would make the table anew, without its triggers.
        for column in COLUMNS:
            op.add_column(table, sa.Column(column, sa.Date()))
    concurrently, first = ("CONCURRENTLY ", " NULLS FIRST, id") if is_postgresql else ("", "")
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():  # does not block writers
        for table in TABLES:
            for column in COLUMNS:
                name = f"ix_{table}_by_{column}"
                op.execute(f"DROP INDEX {concurrently}IF EXISTS {name}")  # of a migration that was stopped
                op.execute(f"CREATE INDEX {concurrently}{name} ON {table} ({column}{first}) WHERE deleted_at IS NULL")


def downgrade() -> None:
    for table in TABLES:
        for column in COLUMNS:
            op.execute(f"DROP INDEX IF EXISTS ix_{table}_by_{column}")
            op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
