"""Forms that outlive their session, and the state of each city"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "kept_form",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("address", sa.String(length=200), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("kept_at", groundtransport.db.UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["admin_user.id"], name=op.f("fk_kept_form_user_id_admin_user")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_kept_form")),
    )
    op.create_index(op.f("ix_kept_form_user_id"), "kept_form", ["user_id"])
    op.create_index(op.f("ix_kept_form_kept_at"), "kept_form", ["kept_at"])
    with op.batch_alter_table("city") as table:
        # The next "groundtransport init" fills it.
        table.add_column(sa.Column("state", sa.String(length=6), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("city") as table:
        table.drop_column("state")
    op.drop_table("kept_form")
