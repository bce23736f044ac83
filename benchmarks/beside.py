"""Django REST framework and django-ninja beside our API: their environment, their database, their server.

The environment is made once, by pip from ``api_peers/requirements.txt``; the records are copies of ours.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import create_engine, text

from benchmarks.client import wait_for
from benchmarks.data import HOME, KIND, Database, server_url
from benchmarks.ours import free_port

REQUIREMENTS = Path(__file__).with_name("api_peers") / "requirements.txt"
ENVIRONMENT = HOME / "api-peers"
AIRPORT = ("id", "code", "name")
RECORD = (
    *("id", "airport_id", "airport_code", "airport_name", "company_name", "company_address", "company_phone1"),
    *("company_phone2", "company_phone3", "company_link", "route_name", "place", "city", "state", "zip_code"),
    *("description", "status", "source", "source_id", "verified_at", "verified_by", "created_at", "updated_at"),
    *("version", "deleted_at"),
)
TABLES = {"airport": AIRPORT, KIND: RECORD}


@dataclass(frozen=True)
class PeerDatabase:
    """The peers' copy of a database of ours."""

    ours: Database

    @property
    def name(self) -> str:
        return f"gt_bench_peers_{self.ours.size}"

    @property
    def url(self) -> str:
        """The path of a file of SQLite, or the URL of a database of PostgreSQL."""
        if self.ours.engine == "sqlite":
            return f"{HOME}/peers-{self.ours.size}.sqlite"
        return server_url().set(drivername="postgresql", database=self.name).render_as_string(hide_password=False)

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "PEERS_DATABASE": self.url}


def prepare(ours: Database) -> str:
    """Make the environment and the database, unless they are there; return a token of the peers."""
    if not ENVIRONMENT.joinpath("done").exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
        subprocess.run([_python(), *words], check=True)
        ENVIRONMENT.joinpath("done").touch()
    peer = PeerDatabase(ours)
    done = HOME / f"peers-{ours.engine}-{ours.size}.done"
    if not done.exists():
        _make_empty(peer)
        _create(peer)
        (_copy_file if ours.engine == "sqlite" else _copy_tables)(peer)
        done.touch()
    return _create(peer)


@contextmanager
def serving(peer: PeerDatabase) -> Iterator[int]:
    """Run the peers' server, and yield its port."""
    port = free_port()
    with (HOME / "server.log").open("ab") as log:
        words = [_python(), "-m", "benchmarks.api_peers.serve", str(port)]
        process = subprocess.Popen(words, env=peer.environ, stdout=log, stderr=log)
    try:
        wait_for(port, path="/rest/transit/", status=401)
        yield port
    finally:
        process.terminate()
        process.wait(15)


def _python() -> str:
    return str(ENVIRONMENT / "bin" / "python")


def _create(peer: PeerDatabase) -> str:
    """Make the tables, unless they are there, and return the token."""
    words = [_python(), "-m", "benchmarks.api_peers.create"]
    return subprocess.run(words, env=peer.environ, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _make_empty(peer: PeerDatabase) -> None:
    if peer.ours.engine == "sqlite":
        for suffix in ("", "-wal", "-shm"):
            Path(peer.url + suffix).unlink(missing_ok=True)
        return
    engine = create_engine(server_url(), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{peer.name}" WITH (FORCE)'))
        connection.execute(text(f"CREATE DATABASE \"{peer.name}\" TEMPLATE template0 ENCODING 'UTF8'"))
    engine.dispose()


def _copy_file(peer: PeerDatabase) -> None:
    """Copy the records from our file of SQLite."""
    engine = create_engine(f"sqlite:///{peer.url}", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("ATTACH :file AS ours"), {"file": f"{HOME}/{peer.ours.size}.sqlite"})
        for table, columns in TABLES.items():
            names = ", ".join(columns)
            connection.execute(text(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM ours.{table} ORDER BY id"))
        connection.execute(text("ANALYZE"))
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    engine.dispose()


def _copy_tables(peer: PeerDatabase) -> None:
    """Copy the records from our database of PostgreSQL. Our times are without a time zone, in UTC."""
    source = peer.ours.url.replace("postgresql+psycopg:", "postgresql:")
    with closing(psycopg.connect(source)) as ours, closing(psycopg.connect(peer.url, autocommit=True)) as theirs:
        ours.execute("SET TimeZone = 'UTC'")
        for table, columns in TABLES.items():
            names = [f"{name}::timestamptz" if name.endswith("_at") else name for name in columns]
            read = f"COPY (SELECT {', '.join(names)} FROM {table} ORDER BY id) TO STDOUT"
            write = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with ours.cursor().copy(read) as rows, theirs.cursor().copy(write) as copied:
                for block in rows:
                    copied.write(block)
            theirs.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        theirs.execute("VACUUM ANALYZE")
