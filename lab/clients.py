"""Writers and readers of the API, each in a thread with a connection of its own, which note every answer."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lab.results import NO_ANSWER, READ, WRITE, Answer, Write

KIND = "transit"
AIRPORT = "JFK (JFK)"
TIMEOUT = 15  # seconds that a client waits for an answer
WRITE_PAUSE, READ_PAUSE = 0.1, 0.05  # seconds between two requests of a client: the load is not what is measured
RETRY_PAUSE = 0.25


@dataclass
class Notes:
    """What the clients have seen. Appending to a list is atomic."""

    answers: list[Answer] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)


class Client(threading.Thread):
    """A thread that sends requests until ``leave`` is set."""

    purpose = READ

    def __init__(self, name: str, port: int, tls: ssl.SSLContext, token: str, notes: Notes) -> None:
        super().__init__(name=name, daemon=True)
        self.port, self.tls, self.token, self.notes = port, tls, token, notes
        self.leave = threading.Event()
        self.connection: http.client.HTTPSConnection | None = None

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, Any]]:
        """Send one request; return its status and its JSON, and note the answer."""
        status, content = NO_ANSWER, b""
        with suppress(OSError, http.client.HTTPException):
            status, content = self._send(method, path, body, {name.replace("_", "-"): v for name, v in headers.items()})
        if status == NO_ANSWER:
            self.close()
        self.notes.answers.append(Answer(self.name, self.purpose, time.monotonic(), status))
        with suppress(ValueError):
            result = json.loads(content)
            return status, result if isinstance(result, dict) else {}
        return status, {}

    def _send(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> tuple[int, bytes]:
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("localhost", self.port, timeout=TIMEOUT, context=self.tls)
        data = None if body is None else json.dumps(body)
        kind = {"Content-Type": "application/json"} if data else {}
        common = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        self.connection.request(method, f"/api/v1/{path}", data, {**common, **kind, **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def run(self) -> None:
        """Repeat ``step``."""
        while not self.leave.is_set():
            self.step()
        self.close()

    def step(self) -> None:
        """Send the requests of one turn."""
        raise NotImplementedError


class Reader(Client):
    """Reads a list and a record in turn: always the same one, because a replica may not have the newest."""

    record_id: int | None = None

    def step(self) -> None:
        """Read the newest records, then a record."""
        _, page = self.ask("GET", f"{KIND}?limit=10&sort=-updated_at")
        if page.get("items") and self.record_id is None:
            self.record_id = page["items"][0]["id"]
        self.leave.wait(READ_PAUSE)
        if self.record_id is not None:
            self.ask("GET", f"{KIND}/{self.record_id}")
            self.leave.wait(READ_PAUSE)


class Writer(Client):
    """Creates a record and changes it twice, over and over. Nobody else changes its records."""

    purpose = WRITE
    number = 0

    def step(self) -> None:
        """Create a record, every second time with an Idempotency-Key, and change it."""
        record = self.create()
        for _ in range(2):
            if record is not None:
                self.leave.wait(WRITE_PAUSE)
                record = self.change(*record)
        self.leave.wait(WRITE_PAUSE)

    def note(self, *, creates: bool) -> Write:
        """Return a new write with a mark of its own."""
        self.number += 1
        write = Write(f"{self.name} {self.number}", creates)
        self.notes.writes.append(write)
        return write

    def create(self) -> tuple[int, int] | None:
        """Create a record; return its id and version, or None if that was not confirmed.

        With a key the request is repeated until it is confirmed; without one, whoever repeats it may double it.
        """
        write = self.note(creates=True)
        headers = {"Idempotency_Key": f'"{write.mark.replace(" ", "-")}"'} if self.number % 2 else {}
        body = {"airport_name": AIRPORT, "company_name": write.mark}
        while True:
            status, record = self.ask("POST", KIND, body, **headers)
            if status == 201:
                self.confirm(write, record["id"])
                return record["id"], record["version"]
            if self.leave.wait(RETRY_PAUSE) or not headers:
                return None

    def change(self, record_id: int, version: int) -> tuple[int, int] | None:
        """Change a record of that version until that is confirmed; return its id and its new version.

        A 412 after an answer that was lost says that the first request was done: the record tells.
        """
        write, is_unsure = self.note(creates=False), False
        while True:
            status, record = self.ask("PATCH", f"{KIND}/{record_id}", {"place": write.mark}, If_Match=f'"{version}"')
            if status == 412 and is_unsure:
                status, record = self.ask("GET", f"{KIND}/{record_id}")
            if status == 200 and record.get("place") == write.mark:
                self.confirm(write, record_id)
                return record_id, record["version"]
            if status in (200, 404, 412):  # 412: its own version is another's, so something was lost or doubled
                return None
            is_unsure = True
            if self.leave.wait(RETRY_PAUSE):
                return None

    def confirm(self, write: Write, record_id: int) -> None:
        """Note that a write was acknowledged now."""
        write.record_id, write.acknowledged_at = record_id, time.monotonic()
