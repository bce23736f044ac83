"""The server is killed under load again and again: it starts by itself, and what was acknowledged is there."""

import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup

from tests.integrity import assert_whole, rows, session_of
from tests.site import ENVIRON, HEATHROW, JFK, Site

ROUNDS, PEOPLE = 4, 4
INI = """[app:main]
use = egg:groundtransport
groundtransport.hosts = 127.0.0.1
sqlalchemy.url = {url}

[server:main]
use = egg:waitress#main
listen = 127.0.0.1:{port}
threads = 8

[loggers]
keys = root

[handlers]
keys = console

[formatters]
keys =

[logger_root]
level = WARN
handlers = console

[handler_console]
class = StreamHandler
args = (sys.stderr,)
"""
FIELDS = ("airport_name", "company_name", "place")


class Server:
    """``pserve`` on a port of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.ini, self.log = folder / "test.ini", folder / "server.log"
        self.ini.write_text(INI.format(url=url.replace("%", "%%"), port=self.port))

    def start(self) -> None:
        """Start, and wait until it is ready; nothing is done to the database before."""
        words = [sys.executable, "-W", "ignore", "-m", "pyramid.scripts.pserve", str(self.ini)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, env={**os.environ, **ENVIRON}, stdout=log, stderr=log)
        end = time.monotonic() + 15
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        pytest.fail("the server was not ready in time")

    def ask(self, method: str, address: str, body: str = "", **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, address, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def running(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


class Editor:
    """Somebody who writes to records of their own, and knows of each what was acknowledged and what is unknown."""

    def __init__(self, name: str, server: Server, cookie: str) -> None:
        self.name, self.server, self.cookie = name, server, f"groundtransport={cookie}"
        self.token, self.turns = "", 0
        # by company name: what the record may say; None for "not there", a deletion adds "deleted"
        self.possible: dict[str, list[tuple[str, ...] | None]] = {}
        self.refused: list[Any] = []

    def sign(self) -> None:
        page = self.server.ask("GET", "/login", Cookie=self.cookie)[1]
        self.token = BeautifulSoup(page, "html.parser").find("input", {"name": "csrf_token"})["value"]

    def work(self, stop: threading.Event) -> None:
        """Create, change and delete until the server is gone."""
        while not stop.is_set():
            try:
                self.turn()
            except (OSError, http.client.HTTPException):
                return

    def turn(self) -> None:
        self.turns += 1
        name = f"{self.name}-{self.turns:04}"
        self.write(name, "POST", "/admin/transit", (JFK, name, "new"), form_token=f"killed-{name}-token")
        found = self.server.ask("GET", f"/admin/transit?ajax=1&company_name={name}", Cookie=self.cookie)[1]
        address = f"/admin/transit/{int(found.partition(chr(34) + 'id' + chr(34) + ':')[2].partition(',')[0])}"
        for number in range(self.turns % 3):
            self.write(name, "PUT", address, (HEATHROW, name, f"change {number}"), version=str(number + 1))
        if self.turns % 4 == 1:
            self.write(name, "DELETE", address, (*(self.possible[name][-1] or ()), "deleted"))

    def write(self, name: str, method: str, address: str, meant: tuple[str, ...], **more: str) -> None:
        self.possible.setdefault(name, [None]).append(meant)  # from here on it is unknown
        form = {**dict(zip(FIELDS, meant, strict=False)), **more, "csrf_token": self.token}
        form |= {} if method == "POST" else {"_method": method}
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": self.cookie}
        status, _ = self.server.ask("POST", address, urlencode(form), **kind)
        if status == 303:
            self.possible[name] = [meant]
        else:
            self.refused.append((status, method, address))


def said(row: dict[str, Any]) -> tuple[str, ...]:
    values = tuple(row[name] for name in FIELDS)
    return (*values, "deleted") if row["deleted_at"] else values


def test_what_was_acknowledged_survives_every_kill(empty_database_url: str, tmp_path: Path) -> None:
    site = Site(empty_database_url)
    server, chance = Server(tmp_path, empty_database_url), random.Random(8)
    editors = [Editor(f"editor{number}", server, session_of(site, "the-editor")) for number in range(PEOPLE)]
    site.engine.dispose()  # nobody but the server has the database open when it is killed
    for turn in range(ROUNDS + 1):
        server.start()
        with running(server):
            assert server.ask("GET", "/admin/transit", Cookie=editors[0].cookie)[0] == 200
            check(site, editors)
            if turn < ROUNDS:
                load(server, editors, chance.uniform(0.3, 1.2))
    assert sum(len(editor.possible) for editor in editors) > ROUNDS * PEOPLE
    assert "Traceback" not in server.log.read_text()


def load(server: Server, editors: list[Editor], seconds: float) -> None:
    """Let them all work, and kill the server in the middle of it."""
    for editor in editors:
        editor.sign()
    stop = threading.Event()
    threads = [threading.Thread(target=editor.work, args=(stop,)) for editor in editors]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join()


def check(site: Site, editors: list[Editor]) -> None:
    assert [editor.refused for editor in editors] == [[] for _ in editors]
    found = {row["company_name"]: row for row in rows(site).values()}
    assert len(found) == len(rows(site))  # nothing twice
    for editor in editors:
        for name, possible in editor.possible.items():
            now = said(found[name]) if name in found else None
            assert now in possible, name
            editor.possible[name] = [now]  # what was unknown is known from now on
    assert set(found) <= {name for editor in editors for name in editor.possible}
    assert_whole(site)
    site.engine.dispose()
