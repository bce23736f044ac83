"""Small cities, and records at another place than a city of their airport"""

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None
PHASE = "expand"

TABLE = "scheduledbus"  # a deployment's own kinds have migrations of their own
INDEX = f"ix_{TABLE}_other_place"


def upgrade() -> None:
    """Create the table, which ``init`` fills, and the column: false for all records."""
    op.create_table(
        "small_city",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("folded_name", sa.String(200), nullable=False),
        sa.Column("latitude", sa.Double(), nullable=False),
        sa.Column("longitude", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_small_city"),
    )
    op.create_index("ix_small_city_latitude_longitude", "small_city", ["latitude", "longitude"])
    # Not in a batch: SQLite would make the table anew, without its triggers.
    op.add_column(TABLE, sa.Column("other_place", sa.Boolean(), server_default=sa.false(), nullable=False))
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    concurrently, marked = ("CONCURRENTLY ", "other_place") if is_postgresql else ("", "other_place = 1")
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():  # does not block writers
        op.execute(f"DROP INDEX {concurrently}IF EXISTS {INDEX}")  # of a migration that was stopped
        op.execute(f"CREATE INDEX {concurrently}{INDEX} ON {TABLE} (id) WHERE {marked} AND deleted_at IS NULL")


def downgrade() -> None:
    op.execute(f"DROP INDEX IF EXISTS {INDEX}")
    op.execute(f"ALTER TABLE {TABLE} DROP COLUMN other_place")
    op.drop_table("small_city")
