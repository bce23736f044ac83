"""Indexes for every sort, an index of searches, and counters."""

import re
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TABLES = ("scheduledbus", "transit")
TRIGRAMS = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'"
NO_TRIGRAMS = (
    "PostgreSQL's extension pg_trgm is needed, and could not be created ({reason}). Install the contrib modules of the "
    "server (Debian: they are in the package of the server), then let a superuser run in this database: "
    "CREATE EXTENSION pg_trgm"
)
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
    create_trigrams()
    for statement, _undo in statements():
        op.get_bind().execute(sa.text(statement))


def downgrade() -> None:
    for _statement, undo in reversed(statements()):
        if undo:
            op.execute(undo)
    for table, names in REPLACED.items():
        for name in names:
            op.create_index(op.f(f"ix_{table}_{name}"), table, [name])
    character = "chr" if op.get_bind().dialect.name == "postgresql" else "char"
    for table in TABLES:
        marks = f"{character}(31) || {character}(29)"
        op.execute(f"UPDATE {table} SET search_text = split_part(search_text, {marks}, 1)")  # noqa: S608  # of constants
    for table in ("record_change", "record_block", "record_count"):
        op.drop_table(table)


def create_trigrams() -> None:
    """Create the extension that PostgreSQL's index of searches needs; raise RuntimeError with what to do instead."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql" or connection.scalar(sa.text(TRIGRAMS)):
        return
    try:
        connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sa.exc.DBAPIError as error:
        raise RuntimeError(NO_TRIGRAMS.format(reason=str(error.orig).strip().splitlines()[0])) from error


def statements() -> list[tuple[str, str]]:
    """Return the statements beside this file for the database at hand, each with the one that undoes it."""
    file = Path(__file__).with_name(f"0006_{op.get_bind().dialect.name}.sql")
    _title, *blocks = re.split(r"^-- undo: ?", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(statement, undo) for undo, _newline, statement in (block.partition("\n") for block in blocks)]
