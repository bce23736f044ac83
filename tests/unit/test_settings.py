"""Settings: read once, and a missing, misspelt or bad one stops the start by name."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from click.testing import CliRunner
from sqlalchemy import make_url
from sqlalchemy.dialects.postgresql.psycopg import dialect

from groundtransport.cli import main
from groundtransport.db import database_timeout, make_engine
from groundtransport.settings import Settings, SettingsError, read, server_settings

ROOT = Path(__file__).parents[2]
PSERVE = Path(sys.executable).with_name("pserve")
SECRET = "0123456789abcdef0123456789abcdef"
AUDIT = {"GROUNDTRANSPORT_AUDIT_SECRET": "a" * 32}
ENVIRON = {"GROUNDTRANSPORT_SECRET": SECRET, **AUDIT}
INI = {"sqlalchemy.url": "sqlite:///var/x.sqlite", "groundtransport.hosts": "localhost"}


def settings(environ: dict[str, str] = ENVIRON, **ours: str) -> Settings:
    return read({**INI, **{f"groundtransport.{name}": value for name, value in ours.items()}}, environ)


def refusal(ini: dict[str, str], environ: dict[str, str] = ENVIRON) -> str:
    with pytest.raises(SettingsError) as refused:
        read(ini, environ)
    return str(refused.value)


def test_the_least_that_an_ini_can_say_is_enough() -> None:
    result = settings()
    assert (result.page_size, result.default_country, result.hosts) == (25, "US", ("localhost",))
    assert result.is_sqlite


def test_every_known_setting_is_taken() -> None:
    result = settings(
        hosts="Admin.Example.ORG 127.0.0.1",
        page_size="100",
        default_country="CA",
        session_idle="600",
        session_absolute="3600",
        body_limit="1048576",
    )
    assert result.hosts == ("admin.example.org", "127.0.0.1")
    assert (result.page_size, result.default_country) == (100, "CA")
    assert (result.session_idle, result.session_absolute, result.body_limit) == (600, 3600, 1048576)


def test_settings_are_frozen_and_do_not_show_the_secret() -> None:
    result = settings()
    with pytest.raises(AttributeError):
        result.page_size = 10
    assert SECRET not in repr(result)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("page_size", text) for text in ("", "0", "-1", "20", "1000", "ten", "2.5", "٢٥", "9" * 5000)],
        *[
            (name, text)
            for name in ("session_idle", "session_absolute", "body_limit")
            for text in ("", "0", "-5", "1h")
        ],
        *[("default_country", text) for text in ("", "us", "USA", "U", "1A", "ZZ", "ÅÄ")],
        *[
            ("hosts", text)
            for text in (
                "",
                "  ",
                "http://localhost",
                "localhost/admin",
                "localhost:6543",
                "me@localhost",
                "a,b",
                "a; b",
            )
        ],
    ],
)
def test_a_bad_setting_is_named(name: str, text: str) -> None:
    assert f"groundtransport.{name}" in refusal({**INI, f"groundtransport.{name}": text})


@pytest.mark.parametrize("name", ["page_sizes", "pagesize", "host", "secret", "Hosts"])
def test_a_misspelt_setting_is_named(name: str) -> None:
    assert f"groundtransport.{name}" in refusal({**INI, f"groundtransport.{name}": "25"})


def test_missing_settings_are_named() -> None:
    assert "groundtransport.hosts" in refusal({"sqlalchemy.url": INI["sqlalchemy.url"]})
    missing = refusal({"groundtransport.hosts": "localhost"})
    assert "sqlalchemy.url" in missing
    assert "DATABASE_URL" in missing
    assert "GROUNDTRANSPORT_SECRET" in refusal(INI, AUDIT)
    assert "GROUNDTRANSPORT_AUDIT_SECRET" in refusal(INI, {"GROUNDTRANSPORT_SECRET": SECRET})


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://localhost/x",
        "oracle://localhost/x",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql://localhost:port/x",
    ],
)
def test_an_address_of_no_database_is_named(url: str) -> None:
    assert "sqlalchemy.url" in refusal({**INI, "sqlalchemy.url": url})


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"])
def test_postgresql_is_understood_under_every_usual_name(scheme: str) -> None:
    result = read({**INI, "sqlalchemy.url": f"{scheme}://me:pass%40word@db.example/records"}, ENVIRON)
    assert result.database_url == "postgresql+psycopg://me:pass%40word@db.example/records"
    assert not result.is_sqlite


@pytest.mark.parametrize(
    ("text", "hosts", "port"),
    [
        ("postgresql://me:pass%40word@h1:5432,h2:5433/records?target_session_attrs=read-write", "h1,h2", "5432,5433"),
        ("postgresql://me:pass%40word@h1,h2:5433/records?target_session_attrs=read-write", "h1,h2", ",5433"),
    ],
)
def test_several_hosts_are_written_as_libpq_does(text: str, hosts: str, port: str) -> None:
    url = make_url(read({**INI, "sqlalchemy.url": text}, ENVIRON).database_url)
    result = dialect().create_connect_args(url)[1]

    assert (result["host"], result["port"], result["dbname"]) == (hosts, port, "records")
    assert (result["user"], result["password"]) == ("me", "pass@word")
    assert result["target_session_attrs"] == "read-write"


def test_the_environment_takes_the_place_of_the_address_in_the_ini() -> None:
    result = settings({**ENVIRON, "DATABASE_URL": "postgresql://db.example/other"})
    assert result.database_url.endswith("//db.example/other")


def test_a_refused_address_does_not_show_its_password() -> None:
    assert "hush" not in refusal({**INI, "sqlalchemy.url": "mysql://me:hush@localhost/x"})


# Secrets


@pytest.mark.parametrize(
    "name", ["GROUNDTRANSPORT_SECRET", "GROUNDTRANSPORT_SECRET_OLD", "GROUNDTRANSPORT_AUDIT_SECRET"]
)
def test_a_short_secret_is_named_and_not_shown(name: str) -> None:
    message = refusal(INI, {**ENVIRON, name: "shorter-than-32-characters"})
    assert name in message
    assert "shorter-than-32" not in message


def test_the_old_secret_comes_after_the_new_one() -> None:
    assert settings().secrets == (SECRET.encode(),)
    rotating = settings({**ENVIRON, "GROUNDTRANSPORT_SECRET_OLD": "o" * 32})
    assert rotating.secrets == (SECRET.encode(), b"o" * 32)


def test_a_secret_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "var" / "secret"
    first = settings(AUDIT, secret_file=str(file))
    again = settings(AUDIT, secret_file=str(file))

    assert len(first.secrets[0]) >= 32
    assert again.secrets == first.secrets
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["secret"]
    assert settings(AUDIT, secret_file=str(tmp_path / "other")).secrets != first.secrets


def test_the_environment_goes_before_the_secret_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    assert settings(secret_file=str(file)).secrets == (SECRET.encode(),)
    assert not file.exists()


def test_a_secret_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ini = {**INI, "groundtransport.secret_file": str(tmp_path / "file" / "secret")}
    assert "groundtransport.secret_file" in refusal(ini, {})


# The environment


def test_the_environment_takes_precedence_over_the_ini() -> None:
    environ = {**ENVIRON, "GROUNDTRANSPORT_PAGE_SIZE": "50", "GROUNDTRANSPORT_HOSTS": "a.example b.example"}
    result = settings(environ, page_size="10")
    assert (result.page_size, result.hosts) == (50, ("a.example", "b.example"))
    assert server_settings({"threads": "8", "ident": ""}, {"GROUNDTRANSPORT_THREADS": "4"}) == {
        "threads": "4",
        "ident": "",
    }


def test_the_pool_and_the_time_limits_are_settings(tmp_path: Path) -> None:
    result = settings({**ENVIRON, "GROUNDTRANSPORT_POOL_SIZE": "12", "GROUNDTRANSPORT_DATABASE_TIMEOUT": "7"})
    assert (result.pool_size, result.pool_timeout, result.database_timeout, result.request_budget) == (12, 2, 7, 7.5)

    engine = make_engine(replace(result, database_url=f"sqlite:///{tmp_path}/x.sqlite"))
    assert engine.pool.size() == 12
    assert database_timeout(engine) == 7
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == 7000
    engine.dispose()


def test_a_name_of_a_process_is_one_word() -> None:
    assert settings(worker="web-1@host:6543").worker == "web-1@host:6543"
    assert "groundtransport.worker" in refusal({**INI, "groundtransport.worker": "web 1"})


def test_a_bad_setting_of_the_environment_is_named() -> None:
    assert "page_size" in refusal(INI, {**ENVIRON, "GROUNDTRANSPORT_PAGE_SIZE": "26"})


def test_variables_of_kubernetes_are_ignored() -> None:
    assert settings(
        {**ENVIRON, "GROUNDTRANSPORT_SERVICE_HOST": "10.0.0.1", "GROUNDTRANSPORT_PORT": "tcp://10.0.0.1:80"}
    )


def test_a_secret_can_be_in_a_mounted_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s" * 40 + "\n")
    (tmp_path / "url").write_text("postgresql://db.example/x\n")
    environ = {
        **AUDIT,
        "GROUNDTRANSPORT_SECRET_FILE": str(tmp_path / "secret"),
        "DATABASE_URL_FILE": str(tmp_path / "url"),
    }
    result = settings(environ)
    assert result.secrets == (b"s" * 40,)
    assert result.database_url.endswith("//db.example/x")


def test_a_mounted_file_that_is_missing_is_named_and_never_created(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert "GROUNDTRANSPORT_SECRET_FILE" in refusal(INI, {**AUDIT, "GROUNDTRANSPORT_SECRET_FILE": str(missing)})
    assert not missing.exists()


def test_each_setting_is_explained() -> None:
    named = {setting.name for setting in fields(Settings) if setting.metadata.get("meaning")}
    assert named == {setting.name for setting in fields(Settings)} - {"database_url", "secrets", "audit_secrets"}


def test_the_page_of_settings_is_current() -> None:
    page = CliRunner().invoke(main, ["-c", str(ROOT / "production.ini"), "settings"]).output
    assert page == (ROOT / "docs" / "settings.md").read_text(), "run make docs"


# A real start


@contextmanager
def served(ini: Path, port: int, environ: dict[str, str], server: str = "main") -> Iterator[subprocess.Popen[str]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDTRANSPORT", "DATABASE"))}
    process = subprocess.Popen(
        [PSERVE, "--server-name", server, ini, f"port={port}"],
        env={**clean, **environ},
        cwd=ini.parent,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def health(process: subprocess.Popen[str], port: int) -> int:
    for _ in range(150):
        assert process.poll() is None, process.communicate()[0]
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                return int(answer.status)
        except URLError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer at that port in 15 seconds")


@pytest.mark.parametrize("name", ["development.ini", "production.ini"])
def test_both_inis_start_a_server(name: str, tmp_path: Path) -> None:
    ini, port = Path(shutil.copy(ROOT / name, tmp_path)), free_port()
    environ = {**ENVIRON, "DATABASE_URL": f"sqlite:///{tmp_path}/x.sqlite"} if name == "production.ini" else {}
    # Both listen on 6543, as they stand; that port may be taken here.
    ini.write_text(ini.read_text().replace("127.0.0.1:6543", f"127.0.0.1:{port}"))
    with served(ini, port, environ) as process:
        assert health(process, port) == 200


def test_another_port_is_a_word_on_the_command_line(tmp_path: Path) -> None:
    ini, port = Path(shutil.copy(ROOT / "development.ini", tmp_path)), free_port()
    with served(ini, port, {}, server="any") as process:
        assert health(process, port) == 200


def test_a_bad_setting_ends_the_server_with_its_name_and_no_trace(tmp_path: Path) -> None:
    ini = tmp_path / "bad.ini"
    ini.write_text((ROOT / "development.ini").read_text().replace("page_size = 25", "page_size = 26"))
    with served(ini, free_port(), {}) as process:
        said, _ = process.communicate(timeout=20)
        assert process.returncode != 0
    assert "groundtransport.page_size" in said
    assert "Traceback" not in said


def test_production_holds_no_secret_and_does_not_start_without_one(tmp_path: Path) -> None:
    ini = Path(shutil.copy(ROOT / "production.ini", tmp_path))
    with served(ini, free_port(), {"DATABASE_URL": f"sqlite:///{tmp_path}/x.sqlite"}) as process:
        said, _ = process.communicate(timeout=20)
        assert process.returncode != 0
    assert "GROUNDTRANSPORT_SECRET" in said
