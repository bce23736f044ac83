"""Airports as administrators edited them, which a refresh does not undo"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "airport_edit",
        sa.Column(
            "airport_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, autoincrement=False
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("edited", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["airport_id"], ["airport.id"], name=op.f("fk_airport_edit_airport_id_airport")),
        sa.PrimaryKeyConstraint("airport_id", name=op.f("pk_airport_edit")),
    )


def downgrade() -> None:
    op.drop_table("airport_edit")
