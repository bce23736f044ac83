"""A connection: one packet for a short answer, and a loop that waits for the thread that sends."""

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.adjustments import Adjustments

from groundtransport.server.runner import Answer, Channel, Parser


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    if environ["PATH_INFO"] == "/nothing":
        start_response("204 No Content", [])
        return []
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "10")])
    return [b"Hello, ", b"you"]


class Counting(Channel):
    """Notes what is sent."""

    def send(self, data: bytes, do_close: bool = True) -> int:
        self.server.sent.append(bytes(data))
        return int(super().send(data, do_close=do_close))


@pytest.fixture
def channel() -> Iterator[Channel]:
    ours, theirs = socket.socketpair()
    adj = Adjustments()
    server = SimpleNamespace(adj=adj, active_channels={}, application=application, sent=[], pull_trigger=lambda: None)
    server.server_name, server.effective_port = "localhost", 80
    yield Counting(server, ours, ("127.0.0.1", 1), adj, {})
    ours.close()
    theirs.close()


def ask(channel: Channel, head: bytes) -> None:
    request = Parser(channel.adj)
    request.received(head)
    Answer(channel, request).service()


def test_the_head_goes_with_the_first_of_the_body(channel: Channel) -> None:
    ask(channel, b"GET / HTTP/1.1\r\n\r\n")

    first, rest = channel.server.sent
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert first.endswith(b"\r\n\r\nHello, ")
    assert rest == b"you"


def test_a_head_without_a_body_is_sent(channel: Channel) -> None:
    ask(channel, b"GET /nothing HTTP/1.1\r\n\r\n")

    (only,) = channel.server.sent
    assert only.startswith(b"HTTP/1.1 204 No Content\r\n")
    assert only.endswith(b"\r\n\r\n")


def test_the_loop_does_not_ask_on_and_on_while_a_thread_sends(channel: Channel) -> None:
    said: list[bool] = []
    loop = threading.Thread(target=lambda: said.append(channel.writable()))
    with channel.outbuf_lock:
        channel.total_outbufs_len = 5  # on its way
        loop.start()
        loop.join(0.1)
        assert not said
        channel.total_outbufs_len = 0
    loop.join(5)

    assert said == [False]
    channel.total_outbufs_len = 5
    assert channel.writable()
