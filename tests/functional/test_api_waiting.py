"""What the server does before a request of the API is executed: it lets the feed wait, and refuses large bodies."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.functional.test_api_docs import make_token
from tests.serving import Server, read_answer, running

pytestmark = pytest.mark.slow
WAITING = 12  # the server has eight threads


class Listener(threading.Thread):
    """A program that waits for the change behind a number; ``answer`` is its JSON, ``seconds`` how long it took."""

    def __init__(self, server: Server, token: str, query: str) -> None:
        super().__init__(daemon=True)
        self.server, self.token, self.query = server, token, query
        self.answer: Any = None
        self.seconds = 0.0

    def run(self) -> None:
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {self.token}"}
        self.answer = json.loads(self.server.ask("GET", f"/api/v1/changes?{self.query}", **headers)[1])
        self.seconds = time.monotonic() - began


def started(server: Server, token: str, query: str, number: int = 1) -> list[Listener]:
    listeners = [Listener(server, token, query) for _ in range(number)]
    for listener in listeners:
        listener.start()
    return listeners


def create(server: Server, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    status, text = server.ask("POST", "/api/v1/transit", '{"airport_name": "JFK (JFK)"}', **headers)
    assert status == 201, text


def test_waiting_requests_take_no_thread_and_hear_of_a_change(small_database_url: str, tmp_path: Path) -> None:
    token = make_token(small_database_url)
    server = Server(tmp_path, small_database_url)
    server.start()
    with running(server):
        listeners = started(server, token, "after=0&wait=9", WAITING)
        create(server, token)  # by one of the threads
        for listener in listeners:
            listener.join(8)
        assert [[item["id"] for item in listener.answer["items"]] for listener in listeners] == [[1]] * WAITING

        (late,) = started(server, token, "after=1&wait=1")
        (early,) = started(server, token, "after=0&wait=9")
        late.join(8)
        early.join(8)
        assert late.answer["items"] == []
        assert late.seconds >= 1
        assert [item["id"] for item in early.answer["items"]] == [1]


def test_a_request_without_a_token_does_not_wait(small_database_url: str, tmp_path: Path) -> None:
    """Nobody unknown may take the places of programs that wait."""
    server = Server(tmp_path, small_database_url)
    server.start()
    with running(server):
        began = time.monotonic()
        assert server.ask("GET", "/api/v1/changes?after=0&wait=9")[0] == 401
        assert time.monotonic() - began < 8


def test_a_body_that_is_refused_while_it_is_received_gets_problem_details(
    small_database_url: str, tmp_path: Path
) -> None:
    server = Server(tmp_path, small_database_url)
    server.start()
    with running(server):
        for length in (10_000_000, 100_000_000):
            head = f"POST /api/v1/transit HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{"
            answer = server.raw(head.encode())
            assert (answer.status, answer.headers["Content-Type"]) == (413, "application/problem+json"), length
            assert json.loads(answer.body)["status"] == 413


UNPARSABLE = (
    (400, "Content-Length: one\r\n", ""),
    (400, "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    (400, "Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"),
    (501, "Transfer-Encoding: gzip\r\n", ""),
    (400, "No colon\r\n", ""),
)


def test_a_request_that_cannot_be_parsed_gets_problem_details(small_database_url: str, tmp_path: Path) -> None:
    server = Server(tmp_path, small_database_url)
    server.start()
    with running(server):
        line = "POST /api/v1/transit HTTP/1.1\r\nHost: localhost\r\n"
        requests = [(status, f"{line}{header}\r\n{body}") for status, header, body in UNPARSABLE]
        for status, text in [*requests, (431, f"{line}X-Long: ".ljust(65_536, "x"))]:
            answer = server.raw(text.encode())
            where = (text[:120], answer)
            assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json"), where
            document = json.loads(answer.body)
            assert document["instance"] == f"urn:request:{answer.headers['X-Request-Id']}", where
        assert server.raw(b"get /admin HTTP/1.1\r\n\r\n").headers["Content-Type"].startswith("text/plain")


def test_a_waiting_request_is_answered_before_the_server_ends(small_database_url: str, tmp_path: Path) -> None:
    token = make_token(small_database_url)
    server = Server(tmp_path, small_database_url)
    server.start()
    request = f"GET /api/v1/changes?after=0&wait=9 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    with running(server), server.connect() as connection:
        connection.sendall(request.encode())
        assert server.ask("GET", "/healthz")[0] == 200
        server.process.terminate()
        answer = read_answer(connection)
        assert (answer.status, json.loads(answer.body)["items"]) == (200, [])
        assert server.process.wait(9) == 0
