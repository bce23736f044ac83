"""The E.164 forms of telephone numbers; ``groundtransport init`` fills the columns"""

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# A deployment's own kinds have migrations of their own.
PHONES = {
    "scheduledbus": ("company_phone1",),
    "transit": ("company_phone1", "company_phone2", "company_phone3"),
}
# The layouts of the texts at this revision, as records/search/layout.py wrote them then, and those before.
LAYOUTS = {
    "scheduledbus": '{"choices": [], "filters": [["company_name"], ["company_address"], ["company_phone1"]], '
    '"fold": 2, "folded": ["airport_name", "company_name", "company_address", "city"], '
    '"phones": ["company_phone1"], "version": 2}',
    "transit": '{"choices": [["status", ["active", "inactive"]]], "filters": [["company_name"], ["company_address"], '
    '["company_phone1", "company_phone2", "company_phone3"]], "fold": 2, '
    '"folded": ["airport_name", "company_name", "company_address", "route_name", "place", "city", "description"], '
    '"phones": ["company_phone1", "company_phone2", "company_phone3"], "version": 2}',
}
BEFORE = {kind: layout.replace('"version": 2', '"version": 1') for kind, layout in LAYOUTS.items()}


def upgrade() -> None:
    for table, names in PHONES.items():
        for name in names:  # not in a batch: SQLite would make the table anew, without its triggers
            op.add_column(table, sa.Column(f"{name}_e164", sa.String(24)))
    create_indexes()
    store(LAYOUTS)


def downgrade() -> None:
    store(BEFORE)
    for table, names in PHONES.items():
        for name in names:
            op.drop_index(f"ix_{table}_{name}_e164", table)
            op.execute(f"ALTER TABLE {table} DROP COLUMN {name}_e164")


def create_indexes() -> None:
    """Create the indexes of the numbers, on PostgreSQL while others go on writing."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    concurrently = "CONCURRENTLY " if is_postgresql else ""
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        for table, names in PHONES.items():
            for column in (f"{name}_e164" for name in names):
                index = f"ix_{table}_{column}"
                op.execute(f"DROP INDEX {concurrently}IF EXISTS {index}")  # of a migration that was stopped
                where = f"{column} IS NOT NULL AND deleted_at IS NULL"
                op.execute(f"CREATE INDEX {concurrently}{index} ON {table} ({column}) WHERE {where}")


def store(layouts: dict[str, str]) -> None:
    """Store the layouts of tables without a record. ``groundtransport init`` rebuilds the texts of the others."""
    layout = sa.table("search_layout", sa.column("kind"), sa.column("layout"))
    for kind, text in layouts.items():
        is_empty = ~sa.exists(sa.select(sa.literal(1)).select_from(sa.table(kind)))
        op.execute(layout.update().where(layout.c.kind == kind, is_empty).values(layout=text))
