"""Back up a database to one file, and restore such a file into a scratch database."""

import os
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

SCRATCH = "groundtransport_verify_"  # prefix of the names of scratch databases on PostgreSQL
SQLITE_MAGIC = b"SQLite format 3\x00"


class BackupError(Exception):
    """The backup cannot be written or restored. The message gives the reason in one sentence."""


def write(database_url: str, file: Path) -> None:
    """Write a backup of a database, readable for the owner only; other connections can write meanwhile.

    SQLite uses its online backup, PostgreSQL ``pg_dump --format=custom``. Raise BackupError if ``file`` exists or the
    backup fails; an incomplete file is removed.
    """
    if file.exists():
        raise BackupError(f"{file} exists already.")
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    url = make_url(database_url)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if url.get_backend_name() == "sqlite":
            _write_sqlite(Path(url.database or ""), part)
        else:
            _run("pg_dump", url, "--format=custom", f"--file={part}")
        part.rename(file)
    except OSError as error:
        raise BackupError(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def restored(database_url: str, file: Path) -> Iterator[str]:
    """Restore a backup into a scratch database, yield its URL, and remove it afterwards.

    A backup of SQLite is restored into a temporary folder, one of PostgreSQL into a new database beside that of
    ``database_url``, whose role must be allowed to create databases. Raise BackupError if the file is of the other
    database, or damaged.
    """
    is_sqlite_file = _first_bytes(file) == SQLITE_MAGIC
    url = make_url(database_url)
    if is_sqlite_file != (url.get_backend_name() == "sqlite"):
        raise BackupError(f"{file} is a backup of {'SQLite' if is_sqlite_file else 'PostgreSQL'}, or is none.")
    with _restored_sqlite(file) if is_sqlite_file else _restored_postgresql(url, file) as scratch:
        yield scratch.render_as_string(hide_password=False)


def _first_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return content.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise BackupError(f"{file} cannot be read: {error.strerror}.") from error


def _write_sqlite(source: Path, target: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as database,
            closing(sqlite3.connect(target)) as backup,
        ):
            database.backup(backup)
    except sqlite3.Error as error:
        raise BackupError(f"The database cannot be copied: {error}.") from error


@contextmanager
def _restored_sqlite(file: Path) -> Iterator[URL]:
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        copy = Path(folder) / "data.sqlite"
        shutil.copyfile(file, copy)
        with closing(sqlite3.connect(copy)) as database:
            try:
                (result,) = database.execute("PRAGMA integrity_check(1)").fetchone()
            except sqlite3.Error as error:
                raise BackupError(f"{file} is damaged: {error}.") from error
        if result != "ok":
            raise BackupError(f"{file} is damaged: {result}.")
        yield URL.create("sqlite", database=str(copy))


@contextmanager
def _restored_postgresql(url: URL, file: Path) -> Iterator[URL]:
    name = SCRATCH + secrets.token_hex(4)
    server = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
            scratch = on_one_server(url.set(database=name), connection)
        try:
            _run("pg_restore", scratch, "--exit-on-error", "--no-owner", "--no-privileges", str(file))
            yield scratch
        finally:
            with server.connect() as connection:
                connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    except DBAPIError as error:
        raise BackupError(f"No scratch database can be created: {error.orig}") from error
    finally:
        server.dispose()


def on_one_server(url: URL, connection: Connection) -> URL:
    """Return the URL with the server of a connection in place of several servers.

    A standby that does not have a new database yet ends libpq's search for the leader.
    """
    if not isinstance(url.query.get("host"), tuple):
        return url
    driver: Any = connection.connection.driver_connection
    return url.set(query={**url.query, "host": driver.info.host, "port": str(driver.info.port)})


def conninfo(url: URL) -> str:
    """Return a PostgreSQL URL as libpq reads it, without the password.

    SQLAlchemy writes several servers as ``host=name:port`` each, which libpq takes for names.
    """
    _, options = url.get_dialect()().create_connect_args(url)
    return make_conninfo(**{name: value for name, value in options.items() if name not in ("context", "password")})


def _run(program: str, url: URL, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on a database. The password is passed in the environment, not visibly."""
    password = {"PGPASSWORD": str(url.password)} if url.password else {}
    try:
        subprocess.run(  # noqa: S603  # nosec B603 # no shell
            [program, "--no-password", f"--dbname={conninfo(url)}", *arguments],
            env={**os.environ, **password},
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError as error:
        raise BackupError(f"{program} is missing: install PostgreSQL's client programs.") from error
    except subprocess.CalledProcessError as error:
        raise BackupError(f"{program}: {error.stderr.strip() or error.returncode}") from error
