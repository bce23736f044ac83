"""Rows enter the index of searches together, from a short list of those that wait"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# The index of searches of every kind's table, whatever made it.
EACH = """
DO $$
DECLARE name text;
BEGIN
    FOR name IN
        SELECT i.indexrelid::regclass::text FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam JOIN pg_class t ON t.oid = i.indrelid
        WHERE a.amname = 'gin' AND c.relname = 'ix_' || t.relname || '_search'
        AND pg_table_is_visible(t.oid)
    LOOP
        EXECUTE format('ALTER INDEX %s {change}', name);
    END LOOP;
END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(EACH.format(change="SET (fastupdate = on, gin_pending_list_limit = 256)"))


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(EACH.format(change="SET (fastupdate = off)"))
        op.execute(EACH.format(change="RESET (gin_pending_list_limit)"))
