"""The layout by which the search texts of each kind were made, so that a changed one is noticed"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# The layouts of the texts at this revision, as records/search/layout.py wrote them then.
LAYOUTS = {
    "scheduledbus": '{"choices": [], "filters": [["company_name"], ["company_address"], ["company_phone1"]], '
    '"phones": ["company_phone1"], "version": 1}',
    "transit": '{"choices": [["status", ["active", "inactive"]]], "filters": [["company_name"], ["company_address"], '
    '["company_phone1", "company_phone2", "company_phone3"]], '
    '"phones": ["company_phone1", "company_phone2", "company_phone3"], "version": 1}',
}


def upgrade() -> None:
    table = op.create_table(
        "search_layout",
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("layout", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_search_layout")),
    )
    op.bulk_insert(table, [{"kind": kind, "layout": layout} for kind, layout in LAYOUTS.items()])


def downgrade() -> None:
    op.drop_table("search_layout")
