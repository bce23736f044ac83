"""An index of the signs in a text that are rare: PostgreSQL's trigrams do not know them"""

import sys

from alembic import op
from sqlalchemy import text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# Every kind's table, whatever made it, and whether its records are deleted softly.
TABLES = text(
    """
    SELECT t.relname, EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'deleted_at')
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relname = 'ix_' || t.relname || '_search' AND pg_table_is_visible(t.oid)
    """
)
INVALID = text("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:name) AND NOT indisvalid")
SIGNS = (
    r"""string_to_array(regexp_replace(search_text, '[\u0001-\u0020a-ik-pr-wy0-9&''()+,./:@#"-]+', '', 'g'), NULL)"""
)
WAITING = "fastupdate = on, gin_pending_list_limit = 256"


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    with op.get_context().autocommit_block():  # others go on writing meanwhile
        connection = op.get_bind()
        for table, soft in connection.execute(TABLES).all():
            name, live = f"ix_{table}_signs", " WHERE deleted_at IS NULL" if soft else ""
            print(f"  {table}: {name}", file=sys.stderr, flush=True)
            if connection.scalar(INVALID, {"name": name}):  # of an upgrade that was stopped
                op.execute(f"DROP INDEX CONCURRENTLY {name}")
            create = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING gin (({SIGNS}))"
            connection.exec_driver_sql(f"{create} WITH ({WAITING}){live}")


def downgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for table, _ in connection.execute(TABLES).all():
            op.execute(f"DROP INDEX IF EXISTS ix_{table}_signs")
