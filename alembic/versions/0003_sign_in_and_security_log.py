"""Tries to sign in, where a session comes from, and the security log"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = groundtransport.db.UTCDateTime()

# An event that was written stays as it is; old ones are removed by a command.
PROTECTION = {
    "sqlite": [
        """
        CREATE TRIGGER security_event_no_replace BEFORE INSERT ON security_event
        WHEN EXISTS (SELECT 1 FROM security_event WHERE id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'the security log is append-only'); END
        """,
        """
        CREATE TRIGGER security_event_no_update BEFORE UPDATE ON security_event
        BEGIN SELECT RAISE(ABORT, 'the security log is append-only'); END
        """,
    ],
    "postgresql": [
        """
        CREATE FUNCTION security_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'the security log is append-only'; END $$
        """,
        """
        CREATE TRIGGER security_event_no_update BEFORE UPDATE ON security_event
        FOR EACH ROW EXECUTE FUNCTION security_event_is_append_only()
        """,
    ],
}


def upgrade() -> None:
    with op.batch_alter_table("admin_user") as table:
        table.add_column(sa.Column("signed_in_at", MOMENT, nullable=True))
    op.execute("DELETE FROM admin_session")  # it is not known where they began: people sign in again
    with op.batch_alter_table("admin_session") as table:
        table.add_column(sa.Column("public_id", sa.String(16), nullable=False))
        table.add_column(sa.Column("address", sa.String(64), nullable=False))
        table.add_column(sa.Column("user_agent", sa.String(200), nullable=False))
        table.create_unique_constraint("uq_admin_session_public_id", ["public_id"])
    op.create_table(
        "sign_in_try",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("pair", sa.String(64), nullable=True),
        sa.Column("network", sa.String(64), nullable=True),
        sa.Column("person", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_try"),
    )
    for column in ("at", "pair", "network", "person"):
        op.create_index(f"ix_sign_in_try_{column}", "sign_in_try", [column])
    op.create_table(
        "security_event",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("user_id", ID, nullable=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("about", sa.String(64), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("network", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(32), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_security_event"),
    )
    for columns in (["at"], ["name"], ["about"], ["address"], ["event", "at"], ["event", "network", "at"]):
        op.create_index(f"ix_security_event_{'_'.join(columns)}", "security_event", columns)
    for statement in PROTECTION[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("security_event")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION security_event_is_append_only()")
    op.drop_table("sign_in_try")
    with op.batch_alter_table("admin_session") as table:
        table.drop_constraint("uq_admin_session_public_id", type_="unique")
        for column in ("public_id", "address", "user_agent"):
            table.drop_column(column)
    with op.batch_alter_table("admin_user") as table:
        table.drop_column("signed_in_at")
