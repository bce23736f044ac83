"""Results of link checks, and the hosts that a process is at"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = groundtransport.db.UTCDateTime()


def upgrade() -> None:
    op.create_table(
        "link_check",
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("record_id", ID, autoincrement=False, nullable=False),
        sa.Column("field", sa.String(64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("failure", sa.String(16), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("checked_at", MOMENT, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("kind", "record_id", "field", name="pk_link_check"),
    )
    op.create_index("ix_link_check_kind_state", "link_check", ["kind", "state"])
    op.create_table(
        "link_host",
        sa.Column("host", sa.String(253), nullable=False),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("leased_until", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("host", name="pk_link_host"),
    )


def downgrade() -> None:
    op.drop_table("link_host")
    op.drop_table("link_check")
