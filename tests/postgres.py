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


def start(programs: Path, leader: Path | None = None, settings: str = "") -> Path:
    """Start a server on a socket alone; return its folder, which ``stop`` removes.

    It is a standby of the server in the folder ``leader``, if given. ``settings`` are lines of postgresql.conf.
    """
    folder = new_folder()
    data = folder / "data"
    if leader:
        options = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        run(programs / "pg_basebackup", "-D", str(data), "-h", str(leader), "-U", "postgres", *options)
    else:
        run(programs / "initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    launch(programs, folder, settings)
    return folder


def new_folder() -> Path:
    """Make a folder for a server, of the user who runs it."""
    folder = Path(tempfile.mkdtemp(prefix="gt-pg-", dir="/tmp"))
    give_away(folder)
    return folder


def make_folder(folder: Path) -> None:
    """Make an empty folder of that user."""
    folder.mkdir(mode=0o700)
    give_away(folder)


def give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")


def launch(programs: Path, folder: Path, settings: str = "") -> None:
    """Start the server whose data are in ``folder``, with more lines of postgresql.conf."""
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.write(f"\n{settings}\n")
    options = f"-c listen_addresses='' -k {folder} " + " ".join(f"-c {option}" for option in OPTIONS)
    run(programs / "pg_ctl", "-D", str(folder / "data"), "-w", "-l", str(folder / "log"), "-o", options, "start")


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
