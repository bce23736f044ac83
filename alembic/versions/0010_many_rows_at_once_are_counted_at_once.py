"""Many rows at once are counted at once: each list would add up what is left for later"""

from alembic import op
from sqlalchemy import text

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# What counts the rows of every kind's table, whatever made it.
EACH = text(
    r"SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE '%\_count' AND prosrc LIKE '%record_fold()%' "
    "AND pg_function_is_visible(oid)"
)
CHANGES = {
    "DECLARE last bigint;": "DECLARE first bigint; last bigint;",
    "SELECT max(id) INTO last FROM noted;": "SELECT min(id), max(id) INTO first, last FROM noted;",
    "IF last % 256 < 2 THEN": "IF (first - 1) / 256 <> last / 256 THEN",
}


def upgrade() -> None:
    change(CHANGES)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT record_fold()")


def downgrade() -> None:
    change({new: old for old, new in CHANGES.items()})


def change(changes: dict[str, str]) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for function in connection.scalars(EACH).all():
        for old, new in changes.items():
            function = function.replace(old, new)
        connection.exec_driver_sql(function.replace("%", "%%"))
