"""Saves a second by the number of concurrent writers, on PostgreSQL with fsync on, and a single writer's latency.

``python -m benchmarks.writers`` starts a throw-away server and worker processes that call the WSGI application without
a socket in between. ``--beside FOLDER`` measures another checkout in turn with this one.
"""

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine
from webob import Request

from groundtransport import db, main, settings
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession
from groundtransport.accounts.sessions.rows import hash_of
from groundtransport.airports import loading, source
from groundtransport.db import migrations
from groundtransport.security import Role
from tests.postgres import find_programs, start, stop

HERE = Path(__file__).parents[1]
PROCESSES = 2
AIRPORT = "John F Kennedy International Airport (JFK)"
SECRETS = {"GROUNDTRANSPORT_SECRET": "s" * 48, "GROUNDTRANSPORT_AUDIT_SECRET": "a" * 48}


# In a worker process


class Writer:
    """One person who saves new records without a pause."""

    def __init__(self, app: Any, token: str) -> None:
        self.app, self.token = app, token
        page = self.ask("GET", "/admin/transit/create")
        self.csrf = page.text.partition('name="csrf_token" value="')[2].partition('"')[0]

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> Any:
        request = Request.blank(path, method=method, POST=fields, base_url="http://localhost")
        request.headers["Cookie"] = f"groundtransport={self.token}"
        request.environ["REMOTE_ADDR"] = "127.0.0.1"
        return request.get_response(self.app)

    def save(self) -> float:
        """Create a record; return the milliseconds that it took."""
        fields = {"airport_name": AIRPORT, "company_name": secrets.token_hex(8), "csrf_token": self.csrf}
        began = time.perf_counter()
        response = self.ask("POST", "/admin/transit", fields)
        assert response.status_int == 303, (response.status_int, response.text[-600:])
        return (time.perf_counter() - began) * 1000


def work(url: str, tokens: list[str]) -> None:
    """Read from stdin, a line each, how many threads are to save for how long; write their milliseconds to stdout."""
    app = main({}, **{"sqlalchemy.url": url, "groundtransport.hosts": "localhost"})
    writers = [Writer(app, token) for token in tokens]
    for writer in writers:
        writer.save()
    print("ready", flush=True)
    for line in sys.stdin:
        number, seconds = json.loads(line)
        times: list[float] = []

        def save_until(writer: Writer, end: float, times: list[float] = times) -> None:
            while time.monotonic() < end:
                times.append(writer.save())

        end, processor = time.monotonic() + seconds, time.process_time()
        threads = [threading.Thread(target=save_until, args=(writer, end)) for writer in writers[:number]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps([times, (time.process_time() - processor) * 1000]), flush=True)


# In the parent process


class Workers:
    """The worker processes of one checkout on one database."""

    def __init__(self, stack: ExitStack, folder: Path, url: str, most: int) -> None:
        each = -(-most // PROCESSES)
        environ = {**os.environ, **SECRETS, "PYTHONPATH": str(folder), "WRITERS_URL": url}
        self.processes = []
        for _ in range(min(PROCESSES, most)):
            command = [sys.executable, "-W", "ignore", str(HERE / "benchmarks" / "writers.py"), *sign_in(url, each)]
            process = subprocess.Popen(
                command, cwd=folder, env=environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            stack.callback(process.kill)
            self.processes.append(process)
        for process in self.processes:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"

    def measure(self, writers: int, seconds: float) -> tuple[float, float, float, float]:
        """Return saves a second; milliseconds of a save: median, 99th percentile, and the workers' processor time."""
        shares = [writers // PROCESSES + (number < writers % PROCESSES) for number in range(PROCESSES)]
        pairs = [(process, share) for process, share in zip(self.processes, shares, strict=False) if share]
        for process, share in pairs:
            assert process.stdin
            process.stdin.write(json.dumps([share, seconds]) + "\n")
            process.stdin.flush()
        results = [json.loads((process.stdout or sys.stdin).readline()) for process, _ in pairs]
        times = sorted(time for result in results for time in result[0])
        processor = sum(result[1] for result in results) / len(times)
        return len(times) / seconds, statistics.median(times), times[len(times) * 99 // 100], processor


def sign_in(url: str, number: int) -> list[str]:
    """Begin sessions of one person; return their tokens."""
    engine = make_engine(url)
    tokens = [secrets.token_urlsafe(32) for _ in range(number)]
    with db.transaction(engine) as dbsession:
        user = users.find(dbsession, "bench")
        assert user
        for token in tokens:
            row = AdminSession(token_hash=hash_of(token), user_id=user.id, epoch=user.session_epoch, data={})
            dbsession.add(row)
    engine.dispose()
    return tokens


def make_engine(url: str) -> Any:
    return db.make_engine(settings.read({"sqlalchemy.url": url, "groundtransport.hosts": "localhost"}, SECRETS))


def prepare(url: str) -> str:
    """Make the tables and what a save needs; return the URL."""
    engine = make_engine(url)
    migrations.upgrade(engine)
    with db.transaction(engine) as dbsession:
        loading.refresh_airports(dbsession, source.packaged_airports())
        users.add(dbsession, "bench", Role.EDITOR, "a long walk to the terminal", one_time=False)
    engine.dispose()
    return url


@contextmanager
def durable_server(flush: int) -> Iterator[URL]:
    """Yield the URL of a throw-away server that waits for the disk, ``flush`` microseconds more than the disk takes."""
    programs = find_programs()
    assert programs, "PostgreSQL is not installed"
    folder = start(programs)
    try:
        url = URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            options = {"synchronous_commit": "on", "fsync": "on", "commit_delay": flush, "commit_siblings": 0}
            for name, value in options.items():
                connection.exec_driver_sql(f"ALTER SYSTEM SET {name} = '{value}'")
        engine.dispose()
        data = folder / "data"
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        # The command line that started it said fsync=off, which only a start without it takes back.
        options_text = f"-c listen_addresses='' -k {data.parent} -c max_connections=300"
        control = [*user, str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(data.parent / "log")]
        subprocess.run([*control, "-o", options_text, "restart"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        yield url
    finally:
        stop(programs, folder)


def report(name: str, numbers: list[int], folders: list[Path], url: str, given: argparse.Namespace) -> None:
    """Measure the checkouts in turn, and print a row for each number of writers: the medians of the rounds."""
    with ExitStack() as stack:
        workers = {folder: Workers(stack, folder, url, max(numbers)) for folder in folders}
        for number in numbers:
            rounds: dict[Path, list[tuple[float, float, float, float]]] = {folder: [] for folder in folders}
            for _ in range(given.rounds):
                for folder in folders:
                    rounds[folder].append(workers[folder].measure(number, given.seconds))
            for folder in folders:
                rate, *times = (statistics.median(column) for column in zip(*rounds[folder], strict=True))
                figures = "median {:7.2f} ms   p99 {:7.1f} ms   processor {:5.2f} ms".format(*times)
                print(f"{name:24} {folder.name:10} {number:3} writers {rate:7.0f} saves/s   {figures}", flush=True)


def run() -> None:
    words = argparse.ArgumentParser(prog="python -m benchmarks.writers", description=__doc__)
    words.add_argument("--writers", default="1,8,16,32", help="with commas")
    words.add_argument("--seconds", type=float, default=4)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--beside", type=Path, action="append", default=[], help="another checkout")
    words.add_argument("--flush", type=int, default=[], action="append", help="microseconds more of a flush")
    given = words.parse_args()
    numbers, folders = [int(number) for number in given.writers.split(",")], [HERE, *given.beside]
    for flush in given.flush or [0]:
        with durable_server(flush) as url:
            prepare(url.render_as_string(hide_password=False))
            name = f"PostgreSQL, flush +{flush / 1000:g} ms"
            report(name, numbers, folders, url.render_as_string(hide_password=False), given)
    with tempfile.TemporaryDirectory(prefix="gt-writers-") as folder:
        report("SQLite", [1], folders, prepare(f"sqlite:///{folder}/bench.sqlite"), given)


if __name__ == "__main__":
    if "WRITERS_URL" in os.environ:
        work(os.environ["WRITERS_URL"], sys.argv[1:])
    else:
        run()
