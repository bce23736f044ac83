"""The file of SQLite: who may read it, and that a damage of it is noticed."""

import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import groundtransport
from groundtransport import db, settings
from groundtransport.db import migrations, sqlite
from tests import shell
from tests.site import ENVIRON, app_settings

PAGE = 4_096  # bytes


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without records."""
    file = tmp_path_factory.mktemp("migrated") / "data.sqlite"
    engine = make(file)
    migrations.upgrade(engine)
    engine.dispose()
    return file


def make(file: Path) -> Any:
    return db.make_engine(settings.read(app_settings(f"sqlite:///{file}"), ENVIRON))


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


PRIVATE = {"data.sqlite": 0o600, "data.sqlite-wal": 0o600, "data.sqlite-shm": 0o600}


def test_the_file_and_its_folder_are_their_owners_alone(tmp_path: Path) -> None:
    engine = make(tmp_path / "var" / "data.sqlite")
    with db.write_engine(engine).begin() as connection:
        connection.execute(text("CREATE TABLE a (b)"))
        assert modes(tmp_path / "var") == PRIVATE
    engine.dispose()
    assert stat.S_IMODE((tmp_path / "var").stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path, migrated: Path) -> None:
    shutil.copy(migrated, tmp_path / "data.sqlite")
    (tmp_path / "data.sqlite").chmod(0o644)
    tmp_path.chmod(0o755)

    engine = make(tmp_path / "data.sqlite")
    with db.write_engine(engine).begin() as connection:
        connection.execute(text("CREATE TABLE a (b)"))
        assert modes(tmp_path) == PRIVATE
    engine.dispose()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755, "the folder may hold more than ours"


def test_the_write_ahead_log_shrinks_after_a_large_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "WAL_MAX", 1_000_000)
    engine = make(tmp_path / "data.sqlite")
    log = tmp_path / "data.sqlite-wal"
    sizes = []
    for size in (10_000_000, 10, 10):
        with db.write_engine(engine).begin() as connection:
            connection.execute(text("CREATE TABLE IF NOT EXISTS a (b)"))
            connection.execute(text(f"INSERT INTO a VALUES (zeroblob({size}))"))
        sizes.append(log.stat().st_size)
    engine.dispose()
    assert sizes[0] > 10_000_000
    assert sizes[-1] <= sqlite.WAL_MAX


def root_page(file: Path) -> int:
    """Return the number of the page that the people's table begins with."""
    engine = make(file)
    with engine.connect() as connection:
        page: int = connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'admin_user'"))
    engine.dispose()
    return page


def overwrite(file: Path, start: int, length: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(b"\xa5" * length)


def cut(file: Path, length: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(length)


def ready(file: Path) -> int:
    """Return what /readyz says of a process that starts with this file."""
    app = groundtransport.main({}, **app_settings(f"sqlite:///{file}"))
    statuses: list[str] = []
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/readyz", "HTTP_HOST": "localhost", "SERVER_NAME": "localhost"}
    environ |= {"SERVER_PORT": "80", "wsgi.url_scheme": "http", "SERVER_PROTOCOL": "HTTP/1.1"}
    b"".join(app(environ, lambda status, headers, error=None: statuses.append(status)))
    app.registry["engine"].dispose()
    return int(statuses[0][:3])


def run_init_check(file: Path) -> str:
    ini = file.with_suffix(".ini")
    lines = ["[app:main]", "use = egg:groundtransport", "groundtransport.hosts = localhost"]
    ini.write_text("\n".join([*lines, f"sqlalchemy.url = sqlite:///{file}", ""]))
    return shell.run("-c", str(ini), "init", "--check").output


def test_readyz_notices_a_damaged_file(tmp_path: Path, migrated: Path) -> None:
    page = root_page(migrated)
    damages = {
        "none": lambda file: None,
        "header": lambda file: overwrite(file, 0, 100),
        "page of a table": lambda file: overwrite(file, (page - 1) * PAGE, PAGE),
        "end is missing": lambda file: cut(file, migrated.stat().st_size // 2),
        "all but a page is missing": lambda file: cut(file, PAGE),
    }
    result = {}
    for name, damage in damages.items():
        file = tmp_path / f"{name}.sqlite"
        shutil.copy(migrated, file)
        damage(file)
        result[name] = ready(file)

    assert result == {name: 200 if name == "none" else 503 for name in damages}
    for name in damages:
        output = run_init_check(tmp_path / f"{name}.sqlite")
        assert output == "ready\n" if name == "none" else "damaged" in output, name


def test_a_damage_that_a_request_met_is_remembered(tmp_path: Path, migrated: Path) -> None:
    file = tmp_path / "data.sqlite"
    shutil.copy(migrated, file)
    overwrite(file, (root_page(migrated) - 1) * PAGE, PAGE)
    engine = make(file)
    with engine.connect() as connection, pytest.raises(Exception, match="malformed"):
        connection.execute(text("SELECT * FROM admin_user"))
    engine.dispose()
    shutil.copy(migrated, file)

    assert not sqlite.is_sound(engine)


def test_a_folder_in_place_of_the_file_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    sqlite.keep_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
