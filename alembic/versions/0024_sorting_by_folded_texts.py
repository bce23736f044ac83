"""Columns of folded texts, by which lists are sorted, and their indexes; ``groundtransport init`` fills the columns"""

from collections.abc import Iterator
from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# A deployment's own kinds have migrations of their own.
FOLDED = {
    "scheduledbus": ("airport_name", "company_name", "company_address", "city"),
    "transit": (
        "airport_name",
        "company_name",
        "company_address",
        "route_name",
        "place",
        "city",
        "description",
    ),
}
LONG = "description"
# The layouts of the texts at this revision, as records/search/layout.py wrote them then, and those before.
BEFORE = {
    "scheduledbus": '{"choices": [], "filters": [["company_name"], ["company_address"], ["company_phone1"]], '
    '"fold": 2, "phones": ["company_phone1"], "version": 1}',
    "transit": '{"choices": [["status", ["active", "inactive"]]], "filters": [["company_name"], ["company_address"], '
    '["company_phone1", "company_phone2", "company_phone3"]], "fold": 2, '
    '"phones": ["company_phone1", "company_phone2", "company_phone3"], "version": 1}',
}
LAYOUTS = {
    "scheduledbus": BEFORE["scheduledbus"].replace(
        '"fold": 2, ', '"fold": 2, "folded": ["airport_name", "company_name", "company_address", "city"], '
    ),
    "transit": BEFORE["transit"].replace(
        '"fold": 2, ',
        '"fold": 2, "folded": ["airport_name", "company_name", "company_address", "route_name", "place", "city", '
        '"description"], ',
    ),
}


def upgrade() -> None:
    folded = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    for table, names in FOLDED.items():
        for name in names:
            op.add_column(table, sa.Column(f"{name}_folded", folded, nullable=True))
    replace_indexes([(table, name, new) for table, name, _old, new in indexes()])
    store(LAYOUTS)


def downgrade() -> None:
    store(BEFORE)
    replace_indexes([(table, f"{name}_folded", old) for table, name, old, _new in indexes()], suffix="")
    for table, names in FOLDED.items():
        for name in names:  # not in a batch: SQLite would make the table anew, without its triggers
            op.execute(f"ALTER TABLE {table} DROP COLUMN {name}_folded")


def indexes() -> Iterator[tuple[str, str, str, str]]:
    """Yield the table, the column, and the keys of the index of its sort, before and after."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table, names in FOLDED.items():
        for name in names:
            if not is_postgresql:
                yield table, name, f"({name} COLLATE NOCASE)", f"({name}_folded)"
                continue
            key = f"substr({name}, 1, 300)" if name == LONG else name
            include = "" if name == LONG else f" INCLUDE ({name})"
            old = f'(lower({key} COLLATE "C") NULLS FIRST, id){include}'
            yield table, name, old, f"({name}_folded NULLS FIRST, id)"


def replace_indexes(wanted: list[tuple[str, str, str]], suffix: str = "_folded") -> None:
    """Replace the index of each (table, column) by one of other keys, while others go on writing."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    concurrently = "CONCURRENTLY " if is_postgresql else ""
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        for table, name, keys in wanted:
            new = f"ix_{table}_by_{name.removesuffix('_folded')}{suffix}"
            op.execute(f"DROP INDEX {concurrently}IF EXISTS {new}")  # of a migration that was stopped
            op.execute(f"CREATE INDEX {concurrently}{new} ON {table} {keys} WHERE deleted_at IS NULL")
            op.execute(f"DROP INDEX {concurrently}IF EXISTS ix_{table}_by_{name}")


def store(layouts: dict[str, str]) -> None:
    """Store the layouts of tables without a record. ``groundtransport init`` rebuilds the texts of the others."""
    layout = sa.table("search_layout", sa.column("kind"), sa.column("layout"))
    for kind, text in layouts.items():
        is_empty = ~sa.exists(sa.select(sa.literal(1)).select_from(sa.table(kind)))
        op.execute(layout.update().where(layout.c.kind == kind, is_empty).values(layout=text))
