"""The longest wait of a writer while the database of the first release is upgraded, by migration.

``python -W ignore -m benchmarks.upgrade --rows 1000000`` fills the schema of the first release with records, on a
throw-away PostgreSQL with ``fsync`` on and in a SQLite file. Then a process runs the migrations, and with ``--init``
the rest of ``groundtransport init``, while eight writers update and insert records.
"""

import argparse
import logging
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from benchmarks.upgrade_data import NOW, fill
from benchmarks.writers import SECRETS, durable_server
from groundtransport import db, settings
from groundtransport.cli import main
from groundtransport.db import migrations
from tests.postgres import create

FIRST_RELEASE = "0013"  # the last migration of 1.0.0
PATIENCE = 3_600  # seconds that a writer waits for a lock, to measure how long it would
PAUSE = 0.02  # seconds between two writes of a writer
QUIET = 5  # seconds of writing before the upgrade, to compare with
INI = "[app:main]\nuse = egg:groundtransport\ngroundtransport.hosts = localhost\nsqlalchemy.url = {url}\n"
UPDATE = f"UPDATE transit SET company_phone1 = :phone, version = version + 1, updated_at = {NOW} WHERE id = :id"
PLACE = "airport_id, airport_code, airport_name"
INSERT = (
    f"INSERT INTO transit ({PLACE}, company_name, created_at, updated_at, version, search_text) "
    f"SELECT {PLACE}, 'A new company', {NOW}, {NOW}, 1, search_text FROM transit WHERE id = :id"
)


# In the upgrading process


def upgrade(url: str, ini: str, *, with_init: bool) -> None:
    """Upgrade a database; print the beginning of each step to stdout: its time and its name, with a tab between."""

    def say(name: str) -> None:
        print(f"{time.monotonic()}\t{name}", flush=True)

    class Steps(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg.startswith("Running"):  # "Running upgrade 0013 -> 0014, The layout of search texts"
                say(record.getMessage().partition(" -> ")[2].partition(",")[0])

    logger = logging.getLogger("alembic.runtime.migration")
    logger.setLevel(logging.INFO)
    logger.addHandler(Steps())
    engine = make_engine(url)
    migrations.upgrade(engine)
    engine.dispose()
    if with_init:
        say("the rest of init")  # whose lines begin a step each
        main(["-c", ini, "init"], standalone_mode=False)


# In the measuring process


@dataclass
class Step:
    """A step of the upgrade: a migration, or what is before and after them. Times are those of ``time.monotonic()``."""

    name: str
    began: float
    ended: float = 0.0
    waits: list[float] = field(default_factory=list)  # seconds

    def overlap(self, began: float, ended: float) -> float:
        return min(self.ended, ended) - max(self.began, began)


class Writers:
    """Eight threads that update and insert records, and note when each write began and ended."""

    def __init__(self, engine: Engine, rows: int, number: int) -> None:
        self.engine, self.rows = db.write_engine(engine, PATIENCE), rows
        self.writes: deque[tuple[float, float]] = deque()
        self.errors: deque[Exception] = deque()
        self.is_ended = threading.Event()
        self.threads = [threading.Thread(target=self._write, args=(seed,)) for seed in range(number)]

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self.threads:
            thread.start()
        try:
            yield
        finally:
            self.is_ended.set()
            for thread in self.threads:
                thread.join()

    def _write(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311  # no secret
        while not self.is_ended.wait(PAUSE):
            statement = text(INSERT if chance.random() < 0.25 else UPDATE)
            values = {"id": chance.randint(1, self.rows), "phone": f"+1 212 555 {chance.randint(1000, 9999)}"}
            began = time.monotonic()
            try:
                with self.engine.begin() as connection:
                    connection.execute(statement, values if ":phone" in str(statement) else {"id": values["id"]})
            except Exception as error:  # counted, and reported
                self.errors.append(error)
            self.writes.append((began, time.monotonic()))


def measure(url: str, given: argparse.Namespace, folder: Path) -> None:
    """Fill a database, upgrade it beside writers, and print a row for each step."""
    engine, ini = make_engine(url), folder / "upgrade.ini"
    ini.write_text(INI.format(url=url.replace("%", "%%")))
    began = time.monotonic()
    fill(engine, given.rows, given.revision)
    name = engine.dialect.name
    print(
        f"\n{name}: {given.rows:,} records at revision {given.revision}, in {time.monotonic() - began:.0f} s",
        flush=True,
    )
    writers = Writers(engine, given.rows, given.writers)
    steps = [Step("before", time.monotonic())]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.upgrade", "--child", url, str(ini)]
    with writers.running():
        time.sleep(QUIET)
        environ = {**os.environ, **SECRETS}
        words = [*command, *(["--init"] if given.init else [])]
        with subprocess.Popen(words, env=environ, text=True, stdout=subprocess.PIPE) as process:
            for line in process.stdout or ():
                moment, tab, title = line.rstrip().partition("\t")
                if tab:
                    steps.append(Step(title, float(moment)))
                elif line[0].isalpha():
                    steps.append(Step(f"init: {moment}", time.monotonic()))
        assert process.returncode == 0, "the upgrade failed"
        ended = time.monotonic()
    report(steps, ended, writers)
    engine.dispose()


def report(steps: list[Step], ended: float, writers: Writers) -> None:
    for step, following in zip(steps, [*steps[1:], Step("", ended)], strict=True):
        step.ended = following.began
    for begin, end in writers.writes:
        max(steps, key=lambda step: step.overlap(begin, end)).waits.append(end - begin)
    print("| migration | seconds | writes | longest wait, ms |\n|---|---:|---:|---:|")
    for step in steps:
        longest = max(step.waits, default=0) * 1000
        print(f"| {step.name} | {step.ended - step.began:.1f} | {len(step.waits):,} | {longest:,.0f} |")
    longest = max(end - begin for begin, end in writers.writes) * 1000
    print(f"longest wait {longest:,.0f} ms; {len(writers.writes):,} writes, {len(writers.errors)} failed", flush=True)
    for error in list(writers.errors)[:3]:
        print(f"  {error}", flush=True)


def make_engine(url: str) -> Any:
    return db.make_engine(settings.read({"sqlalchemy.url": url, "groundtransport.hosts": "localhost"}, SECRETS))


def run() -> None:
    words = argparse.ArgumentParser(prog="python -m benchmarks.upgrade", description=__doc__)
    words.add_argument("--rows", type=int, default=50_000, help="records")
    words.add_argument("--engines", default="postgresql,sqlite", help="with commas")
    words.add_argument("--revision", default=FIRST_RELEASE, help="to upgrade from; 0005 at the earliest")
    words.add_argument("--writers", type=int, default=8)
    words.add_argument("--init", action="store_true", help="also what init does after the migrations")
    words.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.child:
        upgrade(*given.child, with_init=given.init)
        return
    with tempfile.TemporaryDirectory(prefix="gt-upgrade-") as folder:
        if "postgresql" in given.engines:
            with durable_server(0) as server:
                measure(create(server, "upgrade"), given, Path(folder))
        if "sqlite" in given.engines:
            measure(f"sqlite:///{folder}/upgrade.sqlite", given, Path(folder))


if __name__ == "__main__":
    run()
