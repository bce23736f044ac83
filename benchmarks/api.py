"""``python -m benchmarks.api``: the times of the API over HTTP, by a program with a token, on each database.

The server, its databases and the conditions are those of ``make bench``. With ``--peers``, Django REST framework and
django-ninja are asked for the same in turn, and the table is written into docs/performance.md.
"""

import argparse
import http.client
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from benchmarks import beside
from benchmarks.data import KIND, Database, prepare
from benchmarks.ours import serving
from benchmarks.report import ENGINES, PAGE

ROUNDS, REPEATS = 20, 10  # of each row: rounds of all programs in turn, requests of a program in a round
FEED, FEED_ROUNDS = 10_000, 5  # changes
ACCOUNT = "bench-api"
NO_LIMIT = "1000000"  # requests a minute: they are counted, but not refused
OURS, REST, NINJA = "ours", "REST framework", "django-ninja"
# The rows, and how many times faster than the quicker peer each should be.
GOALS = {"get one": 3, "304 by ETag": 2, "first page of 100": 5, "filtered page of 100, by company": 5, "create": 1}
FEED_ROW = f"feed of {FEED:,} changes, 1,000 a request"
BEGIN, END = "<!-- benchmarks.api writes from here -->", "<!-- benchmarks.api writes to here -->"

Asked = Mapping[str, Callable[[], object]]  # the requests of a program, by row
Figures = dict[str, dict[str, float]]  # milliseconds by row and program


class Program:
    """A program with a token and one warm connection; its paths are below ``base``."""

    def __init__(self, port: int, token: str, base: str = "/api/v1/") -> None:
        self.base = base
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, status: int, method: str, path: str, body: object = None, **headers: str) -> bytes:
        """Return the body of an answer; raise AssertionError for another status."""
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        text = None if body is None else json.dumps(body)
        self.connection.request(method, f"{self.base}{path}", text, sent)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status == status, (path, answer.status, content[:300])
        return content

    def read(self, path: str) -> Any:
        """Return the JSON of an answer."""
        return orjson.loads(self.ask(200, "GET", path))

    def read_feed(self) -> None:
        """Read the first changes in pages of 1,000, as a consumer that begins does."""
        last, number = 0, 0
        while number < FEED:
            page = self.read(f"changes?after={last}&limit=1000")
            last, number = page["last"], number + len(page["items"])
            assert page["items"], f"the log has {number} entries"

    def requests(self, one: str, etag: str, first: str, filtered: str, new: tuple[str, dict[str, object]]) -> Asked:
        """Return the requests that are measured, by row. Each new record is of another company, as real ones are."""
        path, values = new
        asked: tuple[Callable[[], object], ...] = (
            lambda: self.ask(200, "GET", one),
            lambda: self.ask(304, "GET", one, If_None_Match=etag),
            lambda: self.ask(200, "GET", first),
            lambda: self.ask(200, "GET", filtered),
            lambda: self.ask(201, "POST", path, {**values, "company_name": f"{secrets.token_hex(4)} Coaches"}),
        )
        return dict(zip(GOALS, asked, strict=True))


def create_token(database: Database) -> str:
    """Return a new token of the benchmark's service account."""
    program = [str(Path(sys.executable).with_name("groundtransport")), "-c", str(database.ini)]
    account = [*program, "user", "add", ACCOUNT, "--role", "administrator", "--service"]
    subprocess.run(account, check=False, capture_output=True)  # it may exist from an earlier run
    words = [*program, "tokens", "create", ACCOUNT, secrets.token_hex(8), "--days", "1"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def ours(program: Program) -> Asked:
    """Return our requests."""
    record = program.read(f"{KIND}?limit=1")["items"][0]
    values = {"airport_name": record["airport_name"], "route_name": "Route 1"}
    filtered = f"{KIND}?limit=100&status=active&sort=company_name"
    etag = f'"{record["version"]}"'
    asked = program.requests(f"{KIND}/{record['id']}", etag, f"{KIND}?limit=100", filtered, (KIND, values))
    return {**asked, FEED_ROW: program.read_feed}


def rest(program: Program) -> Asked:
    """Return the requests of Django REST framework."""
    record = program.read("?limit=1")["results"][0]
    values = {"airport": record["airport"], "route_name": "Route 1"}
    filtered = "?limit=100&status=active&ordering=company_name,id"
    return program.requests(f"{record['id']}/", f'"{record["version"]}"', "?limit=100", filtered, ("", values))


def ninja(program: Program) -> Asked:
    """Return the requests of django-ninja."""
    record = program.read("?page_size=1")["results"][0]
    values = {"airport_id": record["airport"], "route_name": "Route 1"}
    filtered = "by-company?page_size=100&status=active"
    return program.requests(f"{record['id']}/", f'"{record["version"]}"', "?page_size=100", filtered, ("", values))


@contextmanager
def serving_all(database: Database, *, with_peers: bool) -> Iterator[dict[str, Asked]]:
    """Run the servers, and yield the requests of each program."""
    prepare(database)
    with serving(database) as server:
        programs = {OURS: ours(Program(server.port, create_token(database)))}
        if not with_peers:
            yield programs
            return
        token = beside.prepare(database)
        with beside.serving(beside.PeerDatabase(database)) as port:
            programs[REST] = rest(Program(port, token, f"/rest/{KIND}/"))
            programs[NINJA] = ninja(Program(port, token, f"/ninja/{KIND}/"))
            yield programs


def measure(database: Database, *, with_peers: bool) -> Figures:
    """Return the median of the wall times in ms, by row and program."""
    with serving_all(database, with_peers=with_peers) as programs:
        return {
            FEED_ROW: _in_turn(FEED_ROW, {OURS: programs[OURS]}, FEED_ROUNDS, 1),
            **{row: _in_turn(row, programs, ROUNDS, REPEATS) for row in GOALS},
        }


def _in_turn(row: str, programs: Mapping[str, Asked], rounds: int, repeats: int) -> dict[str, float]:
    """Measure a row in rounds of all programs, so that a slow minute of the machine slows all. The first warms up."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, asked in programs.items():
            for _ in range(repeats):
                began = time.perf_counter()
                asked[row]()
                if number:
                    times[name].append((time.perf_counter() - began) * 1000)
    medians = {name: statistics.median(found) for name, found in times.items()}
    print(f"  {row:40}", *(f"{name} {ms:,.2f}" for name, ms in medians.items()), flush=True)
    return medians


def table(size: int, figures: Mapping[str, Figures]) -> Iterator[str]:
    """Yield the lines of the table; ``figures`` are by engine."""
    programs = list(next(iter(figures.values()))["get one"])
    heads = [
        name if name != OURS else ENGINES[engine] for engine in figures for name in [*programs, *_faster(programs)]
    ]
    yield f"| median, ms, {size:,} records | goal | {' | '.join(heads)} |"
    yield f"|---|---:|{'---:|' * len(heads)}"
    for row in [*GOALS, FEED_ROW]:
        cells = [cell for found in figures.values() for cell in _cells(found[row], programs)]
        yield f"| {row} | {f'{GOALS[row]} x' if row in GOALS else '1,000 ms'} | {' | '.join(cells)} |"


def _faster(programs: list[str]) -> list[str]:
    return ["times faster"] if len(programs) > 1 else []


def _cells(found: Mapping[str, float], programs: list[str]) -> list[str]:
    """Return the cells of a row on one database: each program, and ours against the quicker peer."""
    cells = [f"{found[name]:,.2f}" if name in found else "" for name in programs]
    peers = [ms for name, ms in found.items() if name != OURS]
    return [*cells, *(f"{min(peers) / found[OURS]:.1f}" if peers else "" for _ in _faster(programs))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="sqlite,postgresql")
    parser.add_argument("--size", type=int, default=1_000_000, help=f"records, at least {FEED:,}")
    parser.add_argument("--peers", action="store_true", help="measure the peers, too, and write docs/performance.md")
    options = parser.parse_args()
    os.environ["GROUNDTRANSPORT_API_RATE_LIMIT"] = NO_LIMIT
    figures: dict[str, Figures] = {}
    for engine in options.engines.split(","):
        print(f"{engine}, {options.size:,} records", flush=True)
        figures[engine] = measure(Database(engine, options.size), with_peers=options.peers)
    text = "\n".join(table(options.size, figures))
    print(text)
    if options.peers:
        page = PAGE.read_text()
        PAGE.write_text(f"{page.split(BEGIN)[0]}{BEGIN}\n\n{text}\n\n{END}{page.split(END)[1]}")


if __name__ == "__main__":
    main()
