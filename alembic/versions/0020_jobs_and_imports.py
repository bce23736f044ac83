"""Jobs, and imports with their files, rows and results"""

import sqlalchemy as sa
from alembic import op

import groundtransport.db

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = groundtransport.db.UTCDateTime


def upgrade() -> None:
    create_jobs()
    create_imports()
    create_rows()


def create_jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("key", sa.String(100)),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("created_at", TIME(), nullable=False),
        sa.Column("created_by", sa.String(64), nullable=False),
        sa.Column("run_after", TIME(), nullable=False),
        sa.Column("owner", sa.String(100)),
        sa.Column("leased_until", TIME()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("is_to_stop", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer()),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("finished_at", TIME()),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sa.UniqueConstraint("key", name="uq_job_key"),
    )
    op.create_index("ix_job_state_run_after", "job", ["state", "run_after"])
    op.create_table(
        "job_worker",
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("started_at", TIME(), nullable=False),
        sa.Column("seen_at", TIME(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_job_worker"),
    )
    op.create_index("ix_job_worker_seen_at", "job_worker", ["seen_at"])


def create_imports() -> None:
    op.create_table(
        "import_batch",
        sa.Column("id", ID, nullable=False),
        sa.Column("batch", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("user_id", ID),
        sa.Column("actor", sa.String(64), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("form_token", sa.String(64)),
        sa.Column("filename", sa.String(255), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", ID, nullable=False),
        sa.Column("created_at", TIME(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("problem", sa.JSON()),
        sa.Column("read_options", sa.JSON(), nullable=False),
        sa.Column("source", sa.JSON()),
        sa.Column("header_digest", sa.String(64)),
        sa.Column("options", sa.JSON()),
        sa.Column("all_or_nothing", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("results", sa.JSON(), nullable=False),
        sa.Column("position", ID, nullable=False),
        sa.Column("job_id", ID),
        sa.Column("finished_at", TIME()),
        sa.Column("undo_batch", sa.String(64)),
        sa.Column("undo_position", ID, nullable=False),
        sa.Column("undone_by", sa.String(64)),
        sa.Column("undone_at", TIME()),
        sa.PrimaryKeyConstraint("id", name="pk_import_batch"),
        sa.UniqueConstraint("batch", name="uq_import_batch_batch"),
        sa.UniqueConstraint("user_id", "form_token", "digest", name="uq_import_batch_user_id_form_token_digest"),
    )
    op.create_index("ix_import_batch_kind_header_digest", "import_batch", ["kind", "header_digest"])
    op.create_index("ix_import_batch_digest", "import_batch", ["digest"])


def create_rows() -> None:
    def owner() -> tuple[sa.Column[int], sa.ForeignKeyConstraint]:
        key = sa.ForeignKeyConstraint(["import_id"], ["import_batch.id"], ondelete="CASCADE")
        return sa.Column("import_id", ID, nullable=False), key

    def named(name: str) -> tuple[sa.Column[int], sa.ForeignKeyConstraint]:
        column, key = owner()
        key.name = f"fk_{name}_import_id_import_batch"
        return column, key

    op.create_table(
        "import_part",
        *named("import_part"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("import_id", "number", name="pk_import_part"),
    )
    op.create_table(
        "import_row",
        *named("import_row"),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("is_doubtful", sa.Boolean(), nullable=False),
        sa.Column("is_similar", sa.Boolean(), nullable=False),
        sa.Column("data", sa.JSON()),
        sa.PrimaryKeyConstraint("import_id", "line", name="pk_import_row"),
    )
    op.create_index("ix_import_row_import_id", "import_row", ["import_id", "outcome", "line"])
    op.create_table(
        "import_kept",
        *named("import_kept"),
        sa.Column("record_id", ID, nullable=False),
        sa.Column("label", sa.String(200), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("import_id", "record_id", name="pk_import_kept"),
    )


def downgrade() -> None:
    for table in ("import_kept", "import_row", "import_part", "import_batch", "job_worker", "job"):
        op.drop_table(table)
