"""``groundtransport backup`` and ``backup verify``, on both databases."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from groundtransport import db
from groundtransport.db import backup as backups
from groundtransport.db.backup import SCRATCH
from tests.shell import Shell

pytestmark = pytest.mark.slow


@pytest.fixture
def shell(small_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, small_database_url)
    shell("sample", "transit", "--records", "20")
    yield shell
    shell.engine.dispose()


def test_a_backup_of_a_running_service_is_verified(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    shell("backup", str(file))
    shell("sample", "transit", "--records", "5")  # the database goes on

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "is a good backup: 20 records" in shell("backup", "verify", str(file))
    assert scratch_databases(shell) == []


def test_a_backup_never_replaces_a_file(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_text("precious")

    assert "exists already" in shell("backup", str(file), fails=True)
    assert file.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []


def test_a_damaged_or_foreign_backup_is_refused(shell: Shell, tmp_path: Path) -> None:
    file, empty = tmp_path / "backup", tmp_path / "empty"
    shell("backup", str(file))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    empty.write_bytes(b"")

    assert "Error: " in shell("backup", "verify", str(file), fails=True)
    assert "Error: " in shell("backup", "verify", str(empty), fails=True)
    assert "cannot be read" in shell("backup", "verify", str(tmp_path / "missing"), fails=True)
    assert scratch_databases(shell) == []


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (("DELETE FROM alembic_version",), "not a backup of this service"),
        (
            ("UPDATE alembic_version SET version_num = 'ae1027a6acf'", "DROP TABLE search_layout"),
            "not a backup of this",
        ),
        (("UPDATE alembic_version SET version_num = '9999'",), "of a newer release"),
    ],
)
def test_a_backup_of_another_application_is_refused(
    shell: Shell, tmp_path: Path, statements: tuple[str, ...], reason: str
) -> None:
    file = tmp_path / "backup"
    with db.write_engine(shell.engine).begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    backups.write(shell.engine.url.render_as_string(hide_password=False), file)

    assert reason in shell("backup", "verify", str(file), fails=True)
    assert scratch_databases(shell) == []


def test_a_backup_of_changed_records_is_found(shell: Shell, tmp_path: Path) -> None:
    """A record that was changed past the service disagrees with the log."""
    with db.write_engine(shell.engine).begin() as connection:
        connection.execute(text("UPDATE transit SET route_name = 'past the log' WHERE id = 1"))
    file = tmp_path / "backup"
    shell("backup", str(file))

    assert "is not a good backup" in shell("backup", "verify", str(file), fails=True)


def test_a_backup_of_another_history_is_found(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    shell("sample", "transit", "--records", "1")
    shell("backup", str(file))
    with db.write_engine(shell.engine).begin() as connection:
        for statement in TAMPER[shell.engine.dialect.name]:
            connection.execute(text(statement))

    assert "does not hold entry 21" in shell("backup", "verify", str(file), fails=True)


TAMPER = {
    "sqlite": ("DROP TRIGGER admin_activity_no_update", "UPDATE admin_activity SET mac = 'x' WHERE id = 21"),
    "postgresql": (
        "ALTER TABLE admin_activity DISABLE TRIGGER USER",
        "UPDATE admin_activity SET mac = 'x' WHERE id = 21",
    ),
}


def scratch_databases(shell: Shell) -> list[str]:
    """Return the names of scratch databases that are left on the PostgreSQL server."""
    if make_url(str(shell.engine.url)).get_backend_name() == "sqlite":
        return []
    with shell.engine.connect() as connection:
        names = connection.scalars(text("SELECT datname FROM pg_database")).all()
    return [name for name in names if name.startswith(SCRATCH)]
