"""An index of the signs in a text that are no Latin letters: PostgreSQL's trigrams do not know them"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SCHEDULEDBUS = {
    "id": "number",
    "airport_code": "text",
    "airport_name": "text",
    "company_name": "text",
    "company_address": "text",
    "company_phone1": "text",
    "city": "text",
    "state": "text",
    "zip_code": "text",
    "created_at": "number",
    "updated_at": "number",
    "version": "number",
}
TRANSIT = {
    **SCHEDULEDBUS,
    "company_phone2": "text",
    "company_phone3": "text",
    "company_link": "long",
    "route_name": "text",
    "place": "text",
    "description": "long",
    "status": "text",
}
GAPS = {"company_phone": ["company_phone1", "company_phone2", "company_phone3"]}


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.index_records("scheduledbus", sorts=SCHEDULEDBUS, counted_by=None, soft=True)
        op.index_records("transit", sorts=TRANSIT, counted_by="status", soft=True, gaps=GAPS)


def downgrade() -> None:
    for table in ("scheduledbus", "transit"):
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_signs")
