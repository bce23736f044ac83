"""The record that a deleted one was merged into"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TABLES = ("scheduledbus", "transit")  # a deployment's own kinds have migrations of their own
CONDITION = sa.text("merged_into IS NOT NULL")


def upgrade() -> None:
    where = {"sqlite_where": CONDITION, "postgresql_where": CONDITION}
    for table in TABLES:
        # Not in a batch: SQLite would make the table anew, without its triggers.
        op.add_column(table, sa.Column("merged_into", ID))
        op.create_index(f"ix_{table}_merged_into", table, ["merged_into"], **where)
        op.create_index(f"ix_{table}_merged_source", table, ["source", "source_id"], **where)


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_merged_source", table)
        op.drop_index(f"ix_{table}_merged_into", table)
        op.execute(f"ALTER TABLE {table} DROP COLUMN merged_into")
