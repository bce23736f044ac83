"""The databases of the benchmark: one for each engine and size, made once and kept under var/bench."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url, text

from groundtransport import db, kinds, settings
from groundtransport.indexes import build, spec_of

HOME = Path("var/bench").resolve()
KIND = "transit"
USER, PASSWORD = "bench", "a long walk to the terminal"
# Above this, records are copies of these, made by the database itself.
SAMPLED = 100_000

INI = """
[app:main]
use = egg:groundtransport
sqlalchemy.url = {url}
groundtransport.hosts = 127.0.0.1
groundtransport.secret_file = {home}/secret
groundtransport.audit_secret_file = {home}/audit-secret

[server:main]
use = egg:groundtransport
listen = 127.0.0.1:%(port)s
threads = 8

[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys = plain
[logger_root]
level = WARN
handlers = console
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = plain
[formatter_plain]
format = %(asctime)s %(levelname)s %(message)s
"""


@dataclass(frozen=True)
class Database:
    """One database of records, and the ini that serves it."""

    engine: str  # "sqlite" or "postgresql"
    size: int

    @property
    def url(self) -> str:
        if self.engine == "sqlite":
            return f"sqlite:///{HOME}/{self.size}.sqlite"
        return server_url().set(database=f"gt_bench_{self.size}").render_as_string(hide_password=False)

    @property
    def ini(self) -> Path:
        return HOME / f"{self.engine}-{self.size}.ini"

    def query(self, sql: str) -> list[tuple[object, ...]]:
        engine = create_engine(self.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            rows = [tuple(row) for row in connection.execute(text(sql))]
        engine.dispose()
        return rows


def server_url() -> URL:
    """Return the PostgreSQL server's address: BENCH_DATABASE_URL, else the machine's own by its socket."""
    return make_url(os.environ.get("BENCH_DATABASE_URL", "postgresql+psycopg:///postgres")).set(
        drivername="postgresql+psycopg"
    )


def prepare(database: Database) -> float | None:
    """Make the database, unless it is there; return how many records a second were imported, if any were."""
    HOME.mkdir(parents=True, exist_ok=True)
    database.ini.write_text(INI.format(url=database.url.replace("%", "%%"), home=HOME))
    done = HOME / f"{database.engine}-{database.size}.done"
    if done.exists():
        command(database, "init")  # the migrations since
        _settle(database, anew=False)
        return None
    _make_empty(database)
    rate = None
    if database.size <= SAMPLED:
        command(database, "init")
        command(database, "user", "add", USER, "--role", "administrator", typed=PASSWORD)
        began = time.perf_counter()
        command(database, "sample", KIND, "--records", str(database.size))
        rate = database.size / (time.perf_counter() - began)
    else:
        _multiply(database, Database(database.engine, SAMPLED))
    _settle(database)
    done.touch()
    return rate


def command(database: Database, *words: str, typed: str = "") -> None:
    """Run the command line of the service on the database."""
    program = [str(Path(sys.executable).with_name("groundtransport")), "-c", str(database.ini), *words]
    subprocess.run(program, check=True, input=typed, text=True, stdout=subprocess.DEVNULL)


def _make_empty(database: Database) -> None:
    if database.engine == "sqlite":
        for suffix in ("", "-wal", "-shm"):
            Path(f"{HOME}/{database.size}.sqlite{suffix}").unlink(missing_ok=True)
        return
    engine = create_engine(server_url(), isolation_level="AUTOCOMMIT")
    name = f"gt_bench_{database.size}"
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'"))
    engine.dispose()


def _multiply(database: Database, source: Database) -> None:
    """Copy a smaller database and its records until there are enough, past the writer; then index anew."""
    prepare(source)
    if database.engine == "sqlite":
        shutil.copy(f"{HOME}/{source.size}.sqlite", f"{HOME}/{database.size}.sqlite")
    else:
        engine = create_engine(server_url(), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f'DROP DATABASE "gt_bench_{database.size}"'))
            connection.execute(text(f'CREATE DATABASE "gt_bench_{database.size}" TEMPLATE "gt_bench_{source.size}"'))
        engine.dispose()
    ini = {"sqlalchemy.url": database.url, "groundtransport.hosts": "127.0.0.1"}
    secrets = {"GROUNDTRANSPORT_SECRET": "s" * 32, "GROUNDTRANSPORT_AUDIT_SECRET": "s" * 32}  # nothing is signed here
    engine = db.make_engine(settings.read(ini, secrets))
    model = kinds.kinds()[KIND].model
    facts = spec_of(model.__table__)
    assert facts is not None
    names = [column.key for column in model.__table__.columns]
    listed = ", ".join(name for name in names if name not in ("id", "form_token"))
    with db.write_engine(db.index_build_engine(engine)).begin() as connection:
        build.drop(connection, facts)  # one by one, each copy would be indexed
        for number in range(1, database.size // source.size):
            shifted = f"id + {number * source.size}, {listed}"
            copy = f"INSERT INTO {KIND} (id, {listed}) SELECT {shifted} FROM {KIND} WHERE id <= {source.size}"
            connection.execute(text(copy))
        if database.engine == "postgresql":
            connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{KIND}', 'id'), {database.size})"))
        build.create(connection, facts, print)
    engine.dispose()


def _settle(database: Database, *, anew: bool = True) -> None:
    """Leave the database as it is after a quiet night. Statistics are kept, unless it is made ``anew``."""
    engine = create_engine(database.url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if database.engine == "postgresql":
            connection.execute(text("VACUUM ANALYZE" if anew else "VACUUM"))
        else:
            if anew:
                connection.execute(text("ANALYZE"))
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    engine.dispose()
