"""Possible doubles: the keys that they have in common, and the pairs"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PAIR = ("kind", "state", "score", "second_id", "first_id")


def upgrade() -> None:
    """Create the tables; ``init`` fills them, or ``groundtransport doubles rebuild``."""
    op.create_table(
        "duplicate_key",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("record_id", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("key", "record_id", name="pk_duplicate_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "duplicate_pair",
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("first_id", ID, autoincrement=False, nullable=False),
        sa.Column("second_id", ID, autoincrement=False, nullable=False),
        sa.Column("airport_code", sa.String(3), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("score", sa.SmallInteger(), nullable=False),
        sa.Column("reasons", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("kind", "first_id", "second_id", name="pk_duplicate_pair"),
    )
    op.create_index("ix_duplicate_pair_best", "duplicate_pair", list(PAIR))
    op.create_index("ix_duplicate_pair_airport", "duplicate_pair", [PAIR[0], "airport_code", *PAIR[1:]])
    op.create_index("ix_duplicate_pair_second", "duplicate_pair", ["kind", "second_id"])


def downgrade() -> None:
    op.drop_table("duplicate_pair")
    op.drop_table("duplicate_key")
