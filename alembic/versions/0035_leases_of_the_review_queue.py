"""Leases of the review queue"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "review_lease",
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("leased_until", groundtransport.db.UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "record_id", name="pk_review_lease"),
    )


def downgrade() -> None:
    op.drop_table("review_lease")
