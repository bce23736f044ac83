"""Bulk edits, which are batches of the table of imports without a file"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("import_batch", sa.Column("edit", sa.JSON(), nullable=True))
    op.add_column("import_kept", sa.Column("problem", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("import_kept", "problem")
    op.drop_column("import_batch", "edit")
