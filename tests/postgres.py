"""A PostgreSQL server for the tests: the one that TEST_DATABASE_URL names, else a throw-away one of our own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url, text

from tests.shared import TEMPLATE, Shared

HOW_TO = (
    "The tests ran on SQLite only. For PostgreSQL, install a server (Debian: apt install postgresql) or name one: "
    "TEST_DATABASE_URL=postgresql://user:password@localhost/postgres make test"
)
SERVER = "postgresql"  # name of the server's folder in Shared
# Nothing is to survive a power failure. Four processes with the pools of several applications each connect.
OPTIONS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=400")


def server(shared: Shared) -> URL | None:
    """Return the URL of a server where databases can be made; None where there is none to be had.

    All processes of a test run share one, which the first of them starts and ``stop`` stops.
    """
    if named := os.environ.get("TEST_DATABASE_URL"):
        return make_url(named).set(drivername="postgresql+psycopg")
    programs = find_programs()
    if programs is None:
        return None
    folder = shared.once(SERVER, lambda: str(start(programs)))
    return URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": folder})


def end(shared: Shared) -> None:
    """Stop the server of a test run, if one was started; of a server with a name, remove the run's databases."""
    programs, folder = find_programs(), shared.get(SERVER)
    if programs and folder:
        stop(programs, Path(folder))
        return
    for template in map(make_url, shared.all(TEMPLATE)):
        if template.get_backend_name() == "postgresql":
            drop(server(shared), template.database)


def find_programs() -> Path | None:
    """Return the folder of initdb, pg_ctl and pg_basebackup, the newest version's."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    result = shutil.which("initdb") or (debian and debian[-1])
    return Path(result).resolve().parent if result else None


def start(programs: Path, leader: Path | None = None) -> Path:
    """Start a server on a socket alone; return its folder, which ``stop`` removes.

    It is a standby of the server in the folder ``leader``, if given.
    """
    folder = Path(tempfile.mkdtemp(prefix="gt-pg-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    if leader:
        options = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        run(programs / "pg_basebackup", "-D", str(data), "-h", str(leader), "-U", "postgres", *options)
    else:
        run(programs / "initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    resume(programs, folder)
    return folder


def resume(programs: Path, folder: Path) -> None:
    """Start the server in a folder, as ``start`` or ``halt`` left it."""
    data = folder / "data"
    settings = f"-c listen_addresses='' -k {folder} " + " ".join(f"-c {option}" for option in OPTIONS)
    run(programs / "pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", settings, "start")


def halt(programs: Path, folder: Path) -> None:
    """Stop the server in a folder at once, as a crash would; its data stay."""
    run(programs / "pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop")


def stop(programs: Path, folder: Path) -> None:
    """Stop the server in a folder, and remove the folder."""
    if (folder / "data" / "postmaster.pid").exists():
        halt(programs, folder)
    shutil.rmtree(folder, ignore_errors=True)


def run(program: Path, *words: str) -> None:
    """Run a program of PostgreSQL; never as root, which it refuses."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    command = [*user, str(program), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")


def drop(url: URL, name: str) -> None:
    """Drop the database of that name on the server at a URL."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
    engine.dispose()


def create(url: URL, name: str, template: str = "template0") -> str:
    """Make a database of that name, copied from ``template``, in place of an older one; return its URL."""
    drop(url, name)
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{template}" ENCODING \'UTF8\''))
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)


@contextmanager
def database(url: URL, name: str, template: str = "template0") -> Iterator[str]:
    """Yield the URL of a new database of that name, copied from ``template``; it is dropped afterwards."""
    try:
        yield create(url, name, template)
    finally:
        drop(url, name)
