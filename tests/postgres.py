"""A PostgreSQL server for the tests: the one that TEST_DATABASE_URL names, else a throw-away one of our own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url, text

HOW_TO = (
    "The tests ran on SQLite only. For PostgreSQL, install a server (Debian: apt install postgresql) or name one: "
    "TEST_DATABASE_URL=postgresql://user:password@localhost/postgres make test"
)


@contextmanager
def server() -> Iterator[URL | None]:
    """Yield the address of a server where databases can be made; None where there is none to be had."""
    named = os.environ.get("TEST_DATABASE_URL")
    programs = find_programs()
    if named:
        yield make_url(named).set(drivername="postgresql+psycopg")
    elif programs:
        with throw_away(programs) as url:
            yield url
    else:
        yield None


def find_programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, the newest version's."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = shutil.which("initdb") or (debian and debian[-1])
    return Path(found).parent if found else None


@contextmanager
def throw_away(programs: Path) -> Iterator[URL]:
    """Run a server on a socket alone, in a folder that goes away; never as root, which PostgreSQL refuses."""
    folder = Path(tempfile.mkdtemp(prefix="gt-pg-", dir="/tmp"))
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres")
    data = folder / "data"

    def run(*words: str) -> None:
        subprocess.run([*user, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")

    run(str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses='' -k {folder} -c fsync=off -c synchronous_commit=off"
    run(str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})
    finally:
        run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(url: URL, name: str, template: str = "template0") -> Iterator[str]:
    """Yield the URL of a new database of that name, copied from ``template``; it is dropped afterwards."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{template}" ENCODING \'UTF8\''))
    try:
        yield url.set(database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
        engine.dispose()
