"""Notes on records"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "record_note",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("record_id", ID, nullable=False),
        sa.Column("text", sa.String(2000), nullable=False),
        sa.Column("author_id", ID, nullable=False),
        sa.Column("author", sa.String(64), nullable=False),
        sa.Column("created_at", groundtransport.db.UTCDateTime(), nullable=False),
        sa.Column("form_token", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_record_note"),
        sa.UniqueConstraint("form_token", name="uq_record_note_form_token"),
    )
    op.create_index("ix_record_note_kind_record_id_id", "record_note", ["kind", "record_id", "id"])


def downgrade() -> None:
    op.drop_table("record_note")
