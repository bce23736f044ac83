"""What a person chose for themselves"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KIND = sa.JSON().with_variant(postgresql.JSONB, "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("admin_user") as table:
        table.add_column(sa.Column("preferences", KIND, nullable=False, server_default="{}"))


def downgrade() -> None:
    with op.batch_alter_table("admin_user") as table:
        table.drop_column("preferences")
