"""An index of the records that lack a telephone number: lists and the overview ask for them"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SORTS = {
    "id": "number",
    "airport_code": "text",
    "airport_name": "text",
    "company_name": "text",
    "company_address": "text",
    "company_phone1": "text",
    "company_phone2": "text",
    "company_phone3": "text",
    "company_link": "long",
    "route_name": "text",
    "place": "text",
    "city": "text",
    "state": "text",
    "zip_code": "text",
    "description": "long",
    "status": "text",
    "created_at": "number",
    "updated_at": "number",
    "version": "number",
}
GAPS = {"company_phone": ["company_phone1", "company_phone2", "company_phone3"]}


def upgrade() -> None:
    op.index_records("transit", sorts=SORTS, counted_by="status", soft=True, gaps=GAPS)


def downgrade() -> None:
    op.execute("DROP INDEX IF EXISTS ix_transit_lacks_company_phone")
