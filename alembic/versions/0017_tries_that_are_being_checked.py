"""Whether a try to sign in is decided: who waits for the check of others' passwords is not refused for them"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # What a worker of the release before inserts counts as it did: as a failure from the start.
    column = sa.Column("is_decided", sa.Boolean(), server_default=sa.true(), nullable=False)
    op.add_column("sign_in_try", column)


def downgrade() -> None:
    with op.batch_alter_table("sign_in_try") as table:
        table.drop_column("is_decided")
