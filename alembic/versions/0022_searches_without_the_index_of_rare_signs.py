"""Drop the index of rare signs (PostgreSQL) and the vocabulary of searches (SQLite), which nothing reads any more"""

from alembic import op
from sqlalchemy import text

revision = "0022"
down_revision = "0021"
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
SIGNS = (
    r"""string_to_array(regexp_replace(search_text, '(?:[\u0001-\u0020]|[a-z0-9](?![^a-z0-9æðøþđħıłŋœŧ\u0001-/:-@\["""
    r"""-`{-\u007f])|[&''()+,./:-](?![&''()+,./:-]))+', '', 'g'), NULL)"""
)
WAITING = "fastupdate = on, gin_pending_list_limit = 256"
FTS5_TABLES = text("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%USING fts5(search_text,%'")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table in op.get_bind().scalars(FTS5_TABLES).all():
            op.execute(f"DROP TABLE IF EXISTS {table}_terms")
        return
    with op.get_context().autocommit_block():  # others go on writing meanwhile
        for table, _ in op.get_bind().execute(TABLES).all():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS ix_{table}_rare_signs")


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table in op.get_bind().scalars(FTS5_TABLES).all():
            op.execute(f"CREATE VIRTUAL TABLE {table}_terms USING fts5vocab({table}, row)")
        return
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for table, soft in connection.execute(TABLES).all():
            name, live = f"ix_{table}_rare_signs", " WHERE deleted_at IS NULL" if soft else ""
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # of a downgrade that was stopped
            create = f"CREATE INDEX CONCURRENTLY {name} ON {table} USING gin (({SIGNS}))"
            connection.exec_driver_sql(f"{create} WITH ({WAITING}){live}")
