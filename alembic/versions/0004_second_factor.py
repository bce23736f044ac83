"""Second factors, sign-ins that wait for them, and the name that people read"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = groundtransport.db.UTCDateTime()


def upgrade() -> None:
    with op.batch_alter_table("admin_user") as table:
        table.add_column(sa.Column("full_name", sa.String(100), nullable=True))
    op.create_table(
        "admin_second_factor",
        sa.Column("user_id", ID, nullable=False),
        sa.Column("pending", sa.String(128), nullable=True),
        sa.Column("pending_at", MOMENT, nullable=True),
        sa.Column("sealed", sa.String(128), nullable=True),
        sa.Column("since", MOMENT, nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("recovery_salt", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["admin_user.id"], name="fk_admin_second_factor_user_id_admin_user"),
        sa.PrimaryKeyConstraint("user_id", name="pk_admin_second_factor"),
    )
    op.create_table(
        "admin_recovery_code",
        sa.Column("id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["admin_user.id"], name="fk_admin_recovery_code_user_id_admin_user"),
        sa.PrimaryKeyConstraint("id", name="pk_admin_recovery_code"),
    )
    op.create_index("ix_admin_recovery_code_user_id", "admin_recovery_code", ["user_id"])
    op.create_table(
        "admin_pending_sign_in",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("try_id", sa.BigInteger(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["admin_user.id"], name="fk_admin_pending_sign_in_user_id_admin_user"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_admin_pending_sign_in"),
    )
    for column in ("user_id", "at"):
        op.create_index(f"ix_admin_pending_sign_in_{column}", "admin_pending_sign_in", [column])


def downgrade() -> None:
    for table in ("admin_pending_sign_in", "admin_recovery_code", "admin_second_factor"):
        op.drop_table(table)
    with op.batch_alter_table("admin_user") as table:
        table.drop_column("full_name")
