"""No index of when a session was used: each save wrote all its indexes anew for that, and few rows stand there"""

from contextlib import AbstractContextManager, nullcontext

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NAME = "ix_admin_session_seen_at"


def upgrade() -> None:
    with without_waiting():
        op.drop_index(NAME, "admin_session", if_exists=True, postgresql_concurrently=True)


def downgrade() -> None:
    with without_waiting():
        op.drop_index(NAME, "admin_session", if_exists=True, postgresql_concurrently=True)  # of one that was stopped
        op.create_index(NAME, "admin_session", ["seen_at"], postgresql_concurrently=True)


def without_waiting() -> AbstractContextManager[None]:
    """PostgreSQL then keeps nobody from writing meanwhile."""
    return op.get_context().autocommit_block() if op.get_bind().dialect.name == "postgresql" else nullcontext()
