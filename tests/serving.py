"""The service as a process of its own, and connections to it that no HTTP library would make."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.site import ENVIRON

ROOT = Path(__file__).parents[1]


class Raw(NamedTuple):
    """An answer as it came over the wire; status 0 where the connection was closed without one."""

    status: int
    headers: Message
    body: bytes


def read_answer(connection: socket.socket) -> Raw:
    try:
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return Raw(answer.status, answer.headers, answer.read())
    except (ConnectionError, http.client.BadStatusLine):
        return Raw(0, Message(), b"")


class Server:
    """``pserve`` with one of our inis as it stands, on a database and a port of its own."""

    def __init__(self, folder: Path, url: str, ini: str = "production.ini") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.ini, self.log = folder / ini, folder / "server.log"
        self.ini.write_text((ROOT / ini).read_text().replace("127.0.0.1:6543", f"127.0.0.1:{self.port}"))
        self.environ = {**os.environ, **ENVIRON, "DATABASE_URL": url}

    def start(self, preexec: Callable[[], object] | None = None, address: str = "/readyz") -> None:
        """Start, and wait until ``address`` is answered with 200; nothing is done to the database before."""
        words = [sys.executable, "-W", "ignore", "-m", "pyramid.scripts.pserve", str(self.ini)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, env=self.environ, stdout=log, stderr=log, preexec_fn=preexec)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if self.ask("GET", address)[0] == 200:
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

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=15)

    def raw(self, sent: bytes) -> Raw:
        """Send these bytes, and return the answer, if any, up to its end."""
        with self.connect() as connection:
            connection.sendall(sent)
            return read_answer(connection)

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
