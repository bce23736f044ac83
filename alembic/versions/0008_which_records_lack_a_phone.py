"""An index of the records that lack a telephone number: lists and the overview ask for them"""

from contextlib import nullcontext

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NAME = "ix_transit_lacks_company_phone"
PHONES = ("company_phone1", "company_phone2", "company_phone3")


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    key = 'lower({} COLLATE "C")' if is_postgresql else "{} COLLATE NOCASE"
    where = " AND ".join(["deleted_at IS NULL", *(f"{key.format(phone)} IS NULL" for phone in PHONES)])
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():  # others go on writing meanwhile
        concurrently = "CONCURRENTLY " if is_postgresql else ""
        op.execute(f"DROP INDEX {concurrently}IF EXISTS {NAME}")  # of an upgrade that was stopped
        op.execute(f"CREATE INDEX {concurrently}{NAME} ON transit (id) WHERE {where}")


def downgrade() -> None:
    op.execute(f"DROP INDEX IF EXISTS {NAME}")
