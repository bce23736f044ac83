"""A server killed under load, repeatedly: it restarts by itself, and every acknowledged change is stored."""

import http.client
import random
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup

from tests.integrity import assert_whole, rows, session_of
from tests.serving import Server, running
from tests.site import HEATHROW, JFK, Site

pytestmark = pytest.mark.slow

ROUNDS, PEOPLE = 4, 4
FIELDS = ("airport_name", "company_name", "place")


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
        result = self.server.ask("GET", f"/admin/transit?ajax=1&company_name={name}", Cookie=self.cookie)[1]
        address = f"/admin/transit/{int(result.partition(chr(34) + 'id' + chr(34) + ':')[2].partition(',')[0])}"
        for number in range(self.turns % 3):
            self.write(name, "PUT", address, (HEATHROW, name, f"change {number}"), version=str(number + 1))
        if self.turns % 4 == 1:
            self.write(name, "DELETE", address, (*(self.possible[name][-1] or ()), "deleted"))

    def write(self, name: str, method: str, address: str, expected_values: tuple[str, ...], **more: str) -> None:
        self.possible.setdefault(name, [None]).append(expected_values)  # from here on it is unknown
        form = {**dict(zip(FIELDS, expected_values, strict=False)), **more, "csrf_token": self.token}
        form |= {} if method == "POST" else {"_method": method}
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": self.cookie}
        status, _ = self.server.ask("POST", address, urlencode(form), **kind)
        if status == 303:
            self.possible[name] = [expected_values]
        else:
            self.refused.append((status, method, address))


def field_texts(row: dict[str, Any]) -> tuple[str, ...]:
    values = tuple(row[name] for name in FIELDS)
    return (*values, "deleted") if row["deleted_at"] else values


def test_what_was_acknowledged_survives_every_kill(full_database_url: str, tmp_path: Path) -> None:
    site = Site(full_database_url)
    server, chance = Server(tmp_path, full_database_url), random.Random(8)
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
    result = {row["company_name"]: row for row in rows(site).values()}
    assert len(result) == len(rows(site))  # nothing twice
    for editor in editors:
        for name, possible in editor.possible.items():
            now = field_texts(result[name]) if name in result else None
            assert now in possible, name
            editor.possible[name] = [now]  # what was unknown is known from now on
    assert set(result) <= {name for editor in editors for name in editor.possible}
    assert_whole(site)
    site.engine.dispose()
