"""A restore of PostgreSQL to a moment, by the files in deploy/ for pgBackRest and for a plain archive of the log."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text

from tests import postgres
from tests.shell import Shell, fill_with_some_places

pytestmark = pytest.mark.slow

DEPLOY = Path(__file__).parents[2] / "deploy"
STANZA = "--stanza=groundtransport"


class PlainArchive:
    """A base backup by pg_basebackup, and the log as ``archive_command`` copied it."""

    def __init__(self, programs: Path, folder: Path, archive: Path) -> None:
        self.programs, self.folder, self.log = programs, folder, archive

    @property
    def settings(self) -> str:
        return (DEPLOY / "postgresql-archive.conf").read_text().replace("/var/backups/wal", str(self.log))

    def back_up(self, leader: Path) -> None:
        options = ("--checkpoint=fast", "-h", str(leader), "-U", "postgres")
        postgres.run(self.programs / "pg_basebackup", "-D", str(self.folder / "data"), *options)

    def restore(self, moment: datetime) -> str:
        (self.folder / "data" / "recovery.signal").touch()
        target = f"recovery_target_time = '{moment}'\nrecovery_target_action = promote"
        return f"restore_command = 'cp {self.log}/%f %p'\n{target}"


class PgBackRest:
    """A full backup and the log in a repository of pgBackRest."""

    def __init__(self, programs: Path, folder: Path, archive: Path) -> None:
        self.folder, self.repository = folder, archive
        self.program = Path(shutil.which("pgbackrest") or "")
        self.file = self.repository / "pgbackrest.conf"

    @property
    def settings(self) -> str:
        configured = f"pgbackrest --config={self.file}"
        return (DEPLOY / "postgresql-pgbackrest.conf").read_text().replace("'pgbackrest", f"'{configured}")

    def configure(self, server: Path) -> None:
        """Write deploy/pgbackrest.conf with the paths of a server of the tests."""
        lines = (DEPLOY / "pgbackrest.conf").read_text()
        lines = lines.replace("/var/lib/pgbackrest", str(self.repository / "repository"))
        lines = lines.replace("/var/lib/postgresql/15/main", str(server / "data"))
        paths = "".join(f"{name}-path={self.repository}\n" for name in ("log", "lock", "spool"))
        lines = lines.replace("[global]\n", f"[global]\n{paths}")
        self.file.write_text(f"{lines}pg1-socket-path={server}\npg1-user=postgres\n")

    def run(self, *words: str) -> None:
        postgres.run(self.program, f"--config={self.file}", STANZA, *words)

    def back_up(self, leader: Path) -> None:
        self.configure(leader)
        self.run("stanza-create")
        self.run("check")
        self.run("--type=full", "backup")
        time.sleep(1)  # pgBackRest compares whole seconds: a restore takes a backup that ended in an earlier one

    def restore(self, moment: datetime) -> str:
        self.configure(self.folder)
        postgres.make_folder(self.folder / "data")
        self.run("--type=time", f"--target={moment}", "--target-action=promote", "restore")
        return ""


@pytest.fixture
def programs() -> Path:
    programs = postgres.find_programs()
    if programs and shutil.which("pgbackrest"):
        return programs
    if os.environ.get("CI"):
        pytest.fail("CI must run the tests of restores, and PostgreSQL or pgBackRest is not installed")
    pytest.skip(postgres.HOW_TO if programs is None else "pgBackRest is not installed (Debian: apt install pgbackrest)")


def execute(url: URL, statement: str) -> Any:
    """Execute a statement in autocommit; return its value, None if it has no row."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            result = connection.execute(text(statement))
            return result.scalar() if result.returns_rows else None
    finally:
        engine.dispose()


def wait_for(url: URL, condition: str) -> None:
    end = time.monotonic() + 60
    while not execute(url, f"SELECT {condition}"):
        assert time.monotonic() < end, condition
        time.sleep(0.1)


@contextmanager
def running(programs: Path, folder: Path) -> Iterator[URL]:
    """Yield the URL of a server that runs in ``folder``; stop it and remove the folder afterwards."""
    try:
        yield URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})
    finally:
        postgres.stop(programs, folder)


@pytest.mark.parametrize("way", [PlainArchive, PgBackRest])
def test_deleted_records_come_back(way: Any, programs: Path, tmp_path: Path) -> None:
    archive, restored = postgres.new_folder(), postgres.new_folder()
    backup = way(programs, restored, archive)
    with running(programs, postgres.start(programs, settings=backup.settings)) as url:
        fill_with_some_places(url.render_as_string())
        shell = Shell(tmp_path, url.render_as_string())
        shell("sample", "transit", "--records", "20")
        backup.back_up(Path(str(url.query["host"])))
        shell("sample", "transit", "--records", "5")
        moment = execute(url, "SELECT now()")
        execute(url, "DELETE FROM transit WHERE id > 3")
        shell("sample", "transit", "--records", "1")
        last = execute(url, "SELECT pg_walfile_name(pg_switch_wal())")
        wait_for(url, f"last_archived_wal >= '{last}' FROM pg_stat_archiver")
        shell.engine.dispose()

    settings = backup.restore(moment)
    with running(programs, restored) as url:
        postgres.launch(programs, restored, settings)
        wait_for(url, "NOT pg_is_in_recovery()")
        assert execute(url, "SELECT count(*) FROM transit") == 25
        shell = Shell(tmp_path, url.render_as_string())
        for words in (("check",), ("audit", "verify"), ("audit", "reconcile")):
            shell(*words)
        shell.engine.dispose()
    shutil.rmtree(archive)
