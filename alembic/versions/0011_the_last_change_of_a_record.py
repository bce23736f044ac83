"""The entries of a record in their order: PostgreSQL read all of them to find the last"""

from contextlib import nullcontext

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

OLD, NEW = "ix_admin_activity_kind_record_id", "ix_admin_activity_kind_record_id_id"


def upgrade() -> None:
    replace(OLD, NEW, ["kind", "record_id", "id"])


def downgrade() -> None:
    replace(NEW, OLD, ["kind", "record_id"])


def replace(old: str, new: str, columns: list[str]) -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():  # others go on writing meanwhile
        options = {"if_exists": True, "postgresql_concurrently": True}
        op.drop_index(new, "admin_activity", **options)  # of an upgrade that was stopped
        op.create_index(new, "admin_activity", columns, postgresql_concurrently=True)
        op.drop_index(old, "admin_activity", **options)
