"""Traffic, closure and successor of airports; the layout of search texts whose letters are folded to ASCII"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

# The layouts of the texts at this revision, as records/search/layout.py wrote them then, and those before.
LAYOUTS = {
    "scheduledbus": '{"choices": [], "filters": [["company_name"], ["company_address"], ["company_phone1"]], '
    '"fold": 2, "phones": ["company_phone1"], "version": 1}',
    "transit": '{"choices": [["status", ["active", "inactive"]]], "filters": [["company_name"], ["company_address"], '
    '["company_phone1", "company_phone2", "company_phone3"]], "fold": 2, '
    '"phones": ["company_phone1", "company_phone2", "company_phone3"], "version": 1}',
}
BEFORE = {kind: layout.replace('"fold": 2, ', "") for kind, layout in LAYOUTS.items()}


def upgrade() -> None:
    op.add_column("airport", sa.Column("page_rank", sa.Double(), nullable=True))
    op.add_column("airport", sa.Column("closed_on", sa.Date(), nullable=True))
    op.add_column("airport", sa.Column("replaced_by", sa.String(length=3), nullable=True))
    store(LAYOUTS)


def downgrade() -> None:
    store(BEFORE)
    with op.batch_alter_table("airport") as table:
        for column in ("replaced_by", "closed_on", "page_rank"):
            table.drop_column(column)


def store(layouts: dict[str, str]) -> None:
    """Store the layouts of tables without a record. ``groundtransport init`` rebuilds the texts of the others."""
    layout = sa.table("search_layout", sa.column("kind"), sa.column("layout"))
    for kind, text in layouts.items():
        is_empty = ~sa.exists(sa.select(sa.literal(1)).select_from(sa.table(kind)))
        op.execute(layout.update().where(layout.c.kind == kind, is_empty).values(layout=text))
