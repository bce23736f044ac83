"""Webhooks and their deliveries"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = groundtransport.db.UTCDateTime()


def upgrade() -> None:
    op.create_table(
        "webhook",
        sa.Column("id", ID, nullable=False),
        sa.Column("url", sa.String(1000), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("secret", sa.String(200), nullable=False),
        sa.Column("old_secret", sa.String(200), nullable=True),
        sa.Column("old_secret_until", MOMENT, nullable=True),
        sa.Column("position", ID, nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.String(16), nullable=False),
        sa.Column("next_at", MOMENT, nullable=False),
        sa.Column("owner", sa.String(32), nullable=True),
        sa.Column("leased_until", MOMENT, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("created_by", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook"),
    )
    op.create_table(
        "webhook_delivery",
        sa.Column("id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("message_id", sa.String(40), nullable=False),
        sa.Column("event", sa.String(16), nullable=False),
        sa.Column("number", ID, nullable=True),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("record_id", ID, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_at", MOMENT, nullable=True),
        sa.Column("next_at", MOMENT, nullable=False),
        sa.Column("tried_at", MOMENT, nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("failure", sa.String(16), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"], name="fk_webhook_delivery_webhook_id_webhook"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_delivery"),
    )
    op.create_index("ix_webhook_delivery_webhook_id_done_at_id", "webhook_delivery", ["webhook_id", "done_at", "id"])


def downgrade() -> None:
    op.drop_table("webhook_delivery")
    op.drop_table("webhook")
