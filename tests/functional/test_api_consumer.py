"""A consumer of the feed that is killed again and again while eight programs write, and its copy of the records.

The consumer is the script of docs/api.md.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests.functional.test_api_docs import blocks, make_token
from tests.serving import Server, running

pytestmark = pytest.mark.slow
WRITERS, WRITES, KILLS = 8, 25, 6
SECONDS = (0.05, 1.5)  # from the start of the script to its end by SIGKILL
NAMES = ("id", "version", "company_name", "place")


class Writer(threading.Thread):
    """A program that creates, changes, deletes and restores records of its own."""

    def __init__(self, server: Server, token: str, number: int) -> None:
        super().__init__(daemon=True)
        self.server, self.token, self.random = server, token, random.Random(number)
        self.records: list[dict[str, Any]] = []
        self.refused: list[str] = []

    def ask(self, status: int, method: str, path: str, body: object = None, **headers: str) -> Any:
        named = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        answer = self.server.ask(method, f"/api/v1/transit{path}", json.dumps(body) if body else "", **named)
        if answer[0] != status:
            self.refused.append(f"{method} {path}: {answer}")
        return json.loads(answer[1]) if answer[1] else None

    def run(self) -> None:
        for number in range(WRITES):
            self.write(number)

    def write(self, number: int) -> None:
        if len(self.records) < 3:
            self.records.append(self.ask(201, "POST", "", {"airport_name": "JFK (JFK)", "company_name": self.name}))
            return
        index = self.random.randrange(3)
        path = f"/{self.records[index]['id']}"
        if_match = {"If-Match": f'"{self.records[index]["version"]}"'}
        if self.random.random() < 0.5:
            self.records[index] = self.ask(200, "PATCH", path, {"place": f"Bay {number}"}, **if_match)
            return
        self.ask(204, "DELETE", path, **if_match)
        if self.random.random() < 0.7:
            self.records[index] = self.ask(200, "POST", f"{path}/restore")
        else:
            del self.records[index]


def test_the_copy_of_a_consumer_that_is_killed_becomes_that_of_the_records(
    small_database_url: str, tmp_path: Path
) -> None:
    token, chance = make_token(small_database_url), random.Random(22)
    server = Server(tmp_path, small_database_url)
    server.environ["GROUNDTRANSPORT_API_RATE_LIMIT"] = "1000000"
    server.start()
    script = [sys.executable, "-W", "ignore", "-c", blocks("python")[0]]
    environ = {**os.environ, "URL": f"http://127.0.0.1:{server.port}", "TOKEN": token}
    with running(server):
        writers = [Writer(server, token, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        killed = 0
        while killed < KILLS or any(writer.is_alive() for writer in writers):
            consumer = subprocess.Popen(script, cwd=tmp_path, env=environ, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(*SECONDS))  # the moment of its end is what is tested
            consumer.kill()
            consumer.wait()
            killed += 1
        assert [refused for writer in writers for refused in writer.refused] == []
        subprocess.run(script, cwd=tmp_path, env=environ, check=True, timeout=60, stdout=subprocess.DEVNULL)
    copy = json.loads((tmp_path / "services.json").read_text())["services"].values()
    engine = create_engine(small_database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        query = text(f"SELECT {', '.join(NAMES)} FROM transit WHERE deleted_at IS NULL ORDER BY id")
        rows = [tuple(row) for row in connection.execute(query)]
    engine.dispose()
    assert len(rows) >= WRITERS
    assert sorted(tuple(record[name] for name in NAMES) for record in copy) == rows
