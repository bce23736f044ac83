"""The names that an airport's city has in all languages"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("airport", sa.Column("other_names", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("airport") as table:
        table.drop_column("other_names")
