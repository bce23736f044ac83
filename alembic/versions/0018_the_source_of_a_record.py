"""Where a record comes from and its key there, unique among the live records of a kind"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TABLES = ("scheduledbus", "transit")  # a deployment's own kinds have migrations of their own
CONDITION = sa.text("source_id IS NOT NULL AND deleted_at IS NULL")


def upgrade() -> None:
    for table in TABLES:
        # Not in a batch: SQLite would make the table anew, without its triggers.
        op.add_column(table, sa.Column("source", sa.String(100)))
        op.add_column(table, sa.Column("source_id", sa.String(200)))
        where = {"sqlite_where": CONDITION, "postgresql_where": CONDITION}
        op.create_index(f"ix_{table}_source", table, ["source", "source_id"], unique=True, **where)


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_source", table)
        op.execute(f"ALTER TABLE {table} DROP COLUMN source_id")
        op.execute(f"ALTER TABLE {table} DROP COLUMN source")
