"""When and by whom a record was last verified, and the index to sort by it"""

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

TABLES = ("scheduledbus", "transit")  # a deployment's own kinds have migrations of their own


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in TABLES:
        # Not in a batch: SQLite would make the table anew, without its triggers.
        op.add_column(table, sa.Column("verified_at", groundtransport.db.UTCDateTime()))
        op.add_column(table, sa.Column("verified_by", sa.String(64)))
    concurrently, keys = ("CONCURRENTLY ", "verified_at NULLS FIRST, id") if is_postgresql else ("", "verified_at")
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():  # does not block writers
        for table in TABLES:
            name = f"ix_{table}_by_verified_at"
            op.execute(f"DROP INDEX {concurrently}IF EXISTS {name}")  # of a migration that was stopped
            op.execute(f"CREATE INDEX {concurrently}{name} ON {table} ({keys}) WHERE deleted_at IS NULL")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_by_verified_at")
        op.execute(f"ALTER TABLE {table} DROP COLUMN verified_by")
        op.execute(f"ALTER TABLE {table} DROP COLUMN verified_at")
