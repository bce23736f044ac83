"""Indexes for every sort, an index of searches, and counters."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
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
FACTS = {
    "scheduledbus": {"sorts": SCHEDULEDBUS, "counted_by": None, "soft": True},
    "transit": {"sorts": TRANSIT, "counted_by": "status", "soft": True},
}
# What searches find by exact value, as records/search/terms.py writes it at the end of the text.
STATUS = (
    "CASE status WHEN 'active' THEN {one} || {one} || {end} WHEN 'inactive' THEN {one} || {two} || {end} ELSE '' END"
)
REPLACED = {"scheduledbus": ["airport_code", "deleted_at"], "transit": ["airport_code", "deleted_at", "status"]}


def upgrade() -> None:
    op.create_table(
        "record_count",
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("airport_code", sa.String(length=3), nullable=False),
        sa.Column("choice", sa.String(length=64), nullable=False),
        sa.Column("n", ID, nullable=False),
        sa.PrimaryKeyConstraint("kind", "airport_code", "choice", name=op.f("pk_record_count")),
    )
    op.create_table(
        "record_block",
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("block", ID, autoincrement=False, nullable=False),
        sa.Column("n", ID, nullable=False),
        sa.PrimaryKeyConstraint("kind", "block", name=op.f("pk_record_block")),
    )
    op.create_table(
        "record_change",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("airport_code", sa.String(length=3), nullable=False),
        sa.Column("choice", sa.String(length=64), nullable=False),
        sa.Column("block", ID, nullable=False),
        sa.Column("n", ID, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_record_change")),
    )
    for table, names in REPLACED.items():
        for name in names:
            op.drop_index(op.f(f"ix_{table}_{name}"), table)
    character = "chr" if op.get_bind().dialect.name == "postgresql" else "char"
    one, two, end, part = (f"{character}({number})" for number in (1, 2, 29, 31))
    for table, status in (("scheduledbus", "''"), ("transit", STATUS.format(one=one, two=two, end=end))):
        marks = f"{part} || {end} || lower(airport_code) || {end} || {status}"
        op.execute(f"UPDATE {table} SET search_text = search_text || {marks}")  # noqa: S608  # of constants
    for table, facts in FACTS.items():
        op.index_records(table, **facts)


def downgrade() -> None:
    for table, facts in FACTS.items():
        op.unindex_records(table, **facts)
    for table, names in REPLACED.items():
        for name in names:
            op.create_index(op.f(f"ix_{table}_{name}"), table, [name])
    character = "chr" if op.get_bind().dialect.name == "postgresql" else "char"
    for table in FACTS:
        marks = f"{character}(31) || {character}(29)"
        op.execute(f"UPDATE {table} SET search_text = split_part(search_text, {marks}, 1)")  # noqa: S608  # of constants
    for table in ("record_change", "record_block", "record_count"):
        op.drop_table(table)
