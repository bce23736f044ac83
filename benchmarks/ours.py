"""The work that is measured, row by row of the table, on one database of ours."""

import itertools
import json
import re
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.client import Client, wait_for
from benchmarks.data import HOME, KIND, PASSWORD, USER, Database
from groundtransport.transfer.samples import RARE

COMMON, NONE = "Limousine", "qzxwvk"
LIST = f"/admin/{KIND}"
REPEATS = 30
TYPED = ("jfk", "lo", "lon", "london", "new+york", "san", "heathrow", "jfk+airport", "par", "paris+ch", "int")
JFK_CITIES = "/admin/scheduledbus/get-city-scheduled?airport=John+F+Kennedy+International+Airport+(JFK)"

ROWS = {
    "a_list": "a list JSON, first page",
    "a_page": "a' list as HTML page",
    "b_sort": "b sorted by company",
    "c_deep": "c page at 90 % of the table",
    "c_last": "c last page",
    "c_next": "c next page, by its link",
    "d_common": "d search, 10 % of rows match",
    "e_rare": "e search, few rows match",
    "e_first": "e the same for the first time",
    "f_none": "f search, nothing matches",
    "g_code": "g filter by airport",
    "h_code_q": "h airport and search",
    "h_first": "h the same for the first time",
    "i_detail": "i detail",
    "i_edit": "i edit form",
    "j_create": "j create",
    "k_update": "k update",
    "l_delete": "l delete",
    "airports": "airport search, while one types",
    "cities": "cities of JFK",
}
# The peers' names of the same work.
PEER_ROWS = {"a_page": "a_list", "c_last": "c_deep", "c_next": "c_deep", "i_detail": "i_edit"}
PEER_ROWS |= {"e_first": "e_rare", "h_first": "h_code_q"}


def distinct(words: str) -> str:
    """Return a company's name that begins and ends like no other, as those of real companies: no possible double."""
    code = uuid.uuid4().hex
    return f"{code[:10]} {words} {code[10:20]}".title()


@dataclass(frozen=True)
class Server:
    """A running service: its process and its port."""

    process: subprocess.Popen[bytes]
    port: int
    started_in: float  # seconds to the first answer

    @property
    def memory(self) -> float:
        """Return the resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def serving(database: Database) -> Iterator[Server]:
    """Run the service on a free port of loopback, and stop it by its process."""
    port = free_port()
    began = time.perf_counter()
    program = [str(Path(sys.executable).with_name("pserve")), str(database.ini), f"port={port}"]
    with (HOME / "server.log").open("ab") as log:
        process = subprocess.Popen(program, stdout=log, stderr=log)
    try:
        wait_for(port)
        yield Server(process, port, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait(15)


class Work:
    """What a person asks for, as requests; each method returns the status and the size of the answer."""

    def __init__(self, client: Client, database: Database) -> None:
        self.client, self.size = client, database.size
        self.code = self._typical_airport(database)
        self.counter = itertools.count(1)
        self.middle = str(self.size // 2 + 3)
        asked = f"SELECT airport_name FROM {KIND} WHERE id = {self.middle}"
        ((self.airport_name,),) = database.query(asked)
        self.made: list[str] = []

    def _typical_airport(self, database: Database) -> str:
        """Return the airport whose share of the records is nearest to 1.7 %, as the peers' LHR has."""
        counts = database.query(f"SELECT airport_code, count(*) FROM {KIND} GROUP BY airport_code")
        return str(min(counts, key=lambda pair: abs(int(str(pair[1])) / self.size - 0.017))[0])

    def rows(self, **query: Any) -> dict[str, Any]:
        """Return the list's JSON, as DataTables asks for it."""
        pairs = {"ajax": "1", "draw": "1", "start": "0", "length": "25", **query}
        status, _, body = self.client.ask("GET", f"{LIST}?{urlencode(pairs)}", X_Requested_With="XMLHttpRequest")
        assert status == 200, (status, body[:300])
        answer: dict[str, Any] = json.loads(body)
        return answer

    def page(self, address: str) -> bytes:
        status, _, body = self.client.ask("GET", address)
        assert status == 200, (address, status)
        return body

    def next_page(self) -> Callable[[], object]:
        """Return the request behind *Next* on a page in the middle of the table."""
        page = self.page(f"{LIST}?page_no={self.size // 50}").decode()
        found = re.search(r'href="([^"]+)"[^>]*>\s*Next', page)
        assert found, "the page has no next"
        address = unescape(found[1])
        return lambda: self.page(address)

    def edit_address(self) -> str:
        row = self.rows()["data"][0]
        return str(row["actions"]["edit"])

    def values(self, company: str) -> dict[str, str]:
        return {
            "airport_name": str(self.airport_name),
            "company_name": company,
            "company_address": "1 Bench Street",
            "route_name": "Route 1",
            "status": "active",
        }

    def anew(self, word: str) -> str:
        """Return a word in capitals and small letters as it was not asked for before: it is not in the memory."""
        number = next(self.counter)
        return "".join(letter.upper() if number >> place & 1 else letter.lower() for place, letter in enumerate(word))

    def create(self) -> None:
        status, _, body = self.client.ask("POST", LIST, self.values(distinct("Benchmark Coaches")))
        assert status == 303, (status, body[:300])

    def update(self) -> None:
        values = self.values(distinct("Benchmark Express"))
        status, _, body = self.client.ask("PUT", f"{LIST}/{self.middle}", values)
        assert status == 303, (status, body[:300])

    def delete(self) -> None:
        status, _, body = self.client.ask("DELETE", f"{LIST}/{self.made.pop()}", {})
        assert status in (200, 204, 303), (status, body[:300])

    def all(self) -> dict[str, Callable[[], object]]:
        deep = int(self.size * 0.9) // 25 * 25
        edit = self.edit_address()
        typed = itertools.cycle(TYPED)
        return {
            "a_list": lambda: self.rows(),
            "a_page": lambda: self.page(LIST),
            "b_sort": lambda: self.rows(sort="company_name"),
            "c_deep": lambda: self.rows(start=deep),
            "c_last": lambda: self.page(f"{LIST}?page_no=last"),
            "c_next": self.next_page(),
            "d_common": lambda: self.rows(q=COMMON),
            "e_rare": lambda: self.rows(q=RARE),
            "e_first": lambda: self.rows(q=self.anew(RARE)),
            "f_none": lambda: self.rows(q=NONE),
            "g_code": lambda: self.rows(airport_code=self.code),
            "h_code_q": lambda: self.rows(airport_code=self.code, q=COMMON),
            "h_first": lambda: self.rows(airport_code=self.code, q=self.anew(COMMON)),
            "i_detail": lambda: self.page(f"{LIST}/{self.middle}"),
            "i_edit": lambda: self.page(edit),
            "j_create": self.create,
            "k_update": self.update,
            "l_delete": self.delete,
            "airports": lambda: self.page(f"/admin/airports?q={next(typed)}"),
            "cities": lambda: self.page(JFK_CITIES),
        }


def measure(database: Database) -> dict[str, Any]:
    """Return the figures of one database: milliseconds for each row, requests a second, memory and start."""
    with serving(database) as server:
        client = Client(server.port)
        client.sign_in(USER, PASSWORD)
        work = Work(client, database)
        medians = {name: _median(name, ask, work) for name, ask in work.all().items()}
        rates = {
            "rps_list": _throughput(server, client, f"{LIST}?ajax=1&draw=1&start=0&length=25"),
            "rps_rare": _throughput(server, client, f"{LIST}?ajax=1&draw=1&start=0&length=25&q={RARE}"),
        }
        return {**medians, **rates, "memory": server.memory, "start": server.started_in}


def _median(name: str, ask: Callable[[], object], work: Work) -> float:
    """Return the median of the wall times in ms, after three requests that warm up."""
    if name == "l_delete":
        newest = work.rows(sort="-id", q="Benchmark Coaches", length=100)["data"]
        work.made = [str(row["id"]) for row in newest]
    repeats = min(REPEATS, len(work.made) - 3) if name == "l_delete" else REPEATS
    for _ in range(3):
        ask()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    median = statistics.median(times)
    print(f"  {ROWS[name]:32} {median:9.1f} ms", flush=True)
    return median


def _throughput(server: Server, client: Client, address: str, seconds: float = 6) -> float:
    """Return the requests answered a second at 8 connections, by wrk where there is one."""
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    wrk = shutil.which("wrk")
    if wrk:
        words = [
            "-t1",
            "-c8",
            f"-d{seconds:.0f}s",
            "-H",
            f"Cookie: {cookie}",
            f"http://127.0.0.1:{server.port}{address}",
        ]
        told = subprocess.run([wrk, *words], capture_output=True, text=True, check=True).stdout
        assert "Non-2xx" not in told, told
        return float(re.findall(r"Requests/sec:\s+([\d.]+)", told)[0])
    counts, until = [0] * 8, time.monotonic() + seconds

    def ask_on(number: int) -> None:
        own = Client(server.port)
        own.cookies = dict(client.cookies)
        while time.monotonic() < until:
            assert own.ask("GET", address)[0] == 200
            counts[number] += 1

    threads = [threading.Thread(target=ask_on, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds
