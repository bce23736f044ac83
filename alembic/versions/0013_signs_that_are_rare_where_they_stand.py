"""The index of rare signs knows usual ones before what they rarely stand before: words of two letters need it"""

import sys

from alembic import op
from sqlalchemy import text

revision = "0013"
down_revision = "0012"
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
BEFORE = (
    r"""string_to_array(regexp_replace(search_text, '[\u0001-\u0020a-ik-pr-wy0-9&''()+,./:@#"-]+', '', 'g'), NULL)"""
)
SIGNS = (
    r"""string_to_array(regexp_replace(search_text, '(?:[\u0001-\u0020]|[a-z0-9](?![^a-z0-9æðøþđħıłŋœŧ\u0001-/:-@\["""
    r"""-`{-\u007f])|[&''()+,./:-](?![&''()+,./:-]))+', '', 'g'), NULL)"""
)
WAITING = "fastupdate = on, gin_pending_list_limit = 256"


def upgrade() -> None:
    _replace("signs", "rare_signs", SIGNS)


def downgrade() -> None:
    _replace("rare_signs", "signs", BEFORE)


def _replace(old: str, new: str, signs: str) -> None:
    """Make the index of another name and expression, and drop the old one."""
    if op.get_bind().dialect.name != "postgresql":
        return
    with op.get_context().autocommit_block():  # others go on writing meanwhile
        connection = op.get_bind()
        for table, soft in connection.execute(TABLES).all():
            name, live = f"ix_{table}_{new}", " WHERE deleted_at IS NULL" if soft else ""
            print(f"  {table}: {name}", file=sys.stderr, flush=True)
            if connection.scalar(INVALID, {"name": name}):  # of a run that was stopped
                op.execute(f"DROP INDEX CONCURRENTLY {name}")
            create = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING gin (({signs}))"
            connection.exec_driver_sql(f"{create} WITH ({WAITING}){live}")
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS ix_{table}_{old}")
