"""The security log is a signed chain, from now on"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # Not in a batch: SQLite would make the table anew, without its triggers.
    op.add_column("security_event", sa.Column("key_id", sa.String(16), nullable=False, server_default=""))
    op.add_column("security_event", sa.Column("mac", sa.String(64), nullable=False, server_default=""))
    op.create_table(
        "security_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", ID, nullable=False),
        sa.Column("mac", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_security_head"),
    )
    op.execute("INSERT INTO security_head SELECT 1, coalesce(max(id), 0), '' FROM security_event")


def downgrade() -> None:
    op.drop_table("security_head")
    op.execute("ALTER TABLE security_event DROP COLUMN mac")
    op.execute("ALTER TABLE security_event DROP COLUMN key_id")
    if op.get_bind().dialect.name == "postgresql":  # the sequence numbers events again
        last = "(SELECT max(id) FROM security_event)"
        op.execute(f"SELECT setval(pg_get_serial_sequence('security_event', 'id'), {last}) WHERE {last} > 0")
