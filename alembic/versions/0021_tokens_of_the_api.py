"""Tokens of the API, service accounts, the token in the activity log, and answers kept for repeated requests"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = groundtransport.db.UTCDateTime()


def upgrade() -> None:
    # Defaults of the server: workers of the release before insert rows without these columns.
    op.add_column("admin_user", sa.Column("is_service", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("admin_activity", sa.Column("token", sa.String(64), server_default=sa.text("''"), nullable=False))
    op.create_table(
        "api_token",
        sa.Column("id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("hint", sa.String(8), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("is_read_only", sa.Boolean(), nullable=False),
        sa.Column("networks", sa.JSON(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("created_by", sa.String(64), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.Column("rate_window", sa.BigInteger(), nullable=False),
        sa.Column("rate_count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["admin_user.id"], name="fk_api_token_user_id_admin_user"),
        sa.PrimaryKeyConstraint("id", name="pk_api_token"),
        sa.UniqueConstraint("token_hash", name="uq_api_token_token_hash"),
    )
    op.create_index("ix_api_token_user_id", "api_token", ["user_id"])
    op.create_table(
        "api_answer",
        sa.Column("token_id", ID, nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["api_token.id"], name="fk_api_answer_token_id_api_token"),
        sa.PrimaryKeyConstraint("token_id", "key_hash", name="pk_api_answer"),
    )
    op.create_index("ix_api_answer_created_at", "api_answer", ["created_at"])


def downgrade() -> None:
    op.drop_table("api_answer")
    op.drop_table("api_token")
    op.drop_column("admin_activity", "token")
    op.drop_column("admin_user", "is_service")
