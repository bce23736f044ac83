"""A server on loopback that answers as a test says, also as no good server would."""

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import pytest

from groundtransport.outgoing import addresses

Behaviour = Callable[[socket.socket], None]


@dataclass(frozen=True)
class Received:
    """A request: its first line, its headers with names in lower case, and its body."""

    line: str
    headers: dict[str, str]
    body: bytes


def status(code: int, *headers: str, body: bytes = b"") -> Behaviour:
    """Answer with a status."""
    lines = [f"HTTP/1.1 {code} X", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return lambda peer: peer.sendall("\r\n".join(lines).encode() + body)


def page(body: str = "") -> Behaviour:
    """Answer with an HTML page."""
    return status(200, "Content-Type: text/html; charset=utf-8", body=body.encode())


def redirect(url: str) -> Behaviour:
    return status(302, f"Location: {url}")


def hang_up(peer: socket.socket) -> None:
    """Close the connection without an answer."""


def stay_silent(peer: socket.socket) -> None:
    """Begin an answer, and wait until the client leaves."""
    peer.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    peer.recv(1)


def never_finish(peer: socket.socket) -> None:
    """Send the head of an answer and a part of its body, and wait until the client leaves."""
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    peer.recv(1)


def send_much(peer: socket.socket) -> None:
    """Send an answer without an end, until the client leaves."""
    peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        peer.sendall(b"x" * 65536)


def talk_nonsense(peer: socket.socket) -> None:
    peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


class Receiver:
    """The server. Each request gets the next of ``script``, then what ``pages`` has for it, else ``answer``.

    The keys of ``pages`` are paths, or a method and a path: ``/a``, ``HEAD /a``.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self.script: list[Behaviour] = []
        self.pages: dict[str, Behaviour] = {}
        self.answer: Behaviour = status(204)
        self.tls = tls
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)

    def url(self, path: str = "/hook") -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{path}"

    def __enter__(self) -> "Receiver":
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # ends accept()
        self.thread.join()
        self.listener.close()

    @property
    def pages_got(self) -> list[str]:
        """The methods and paths of the requests, without those for robots.txt."""
        lines = (got.line.removesuffix(" HTTP/1.1") for got in self.received)
        return [line for line in lines if not line.endswith("/robots.txt")]

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with suppress(OSError), peer:
                if self.tls is None:
                    self._handle(peer)
                else:
                    with self.tls.wrap_socket(peer, server_side=True) as secure:
                        self._handle(secure)

    def _handle(self, peer: socket.socket) -> None:
        peer.settimeout(10)
        with peer.makefile("rb") as file:
            line = file.readline().decode("latin-1")
            if not line:
                return
            headers = {}
            while (header := file.readline().decode("latin-1").strip()) != "":
                name, _, value = header.partition(": ")
                headers[name.lower()] = value
            self.received.append(Received(line.strip(), headers, file.read(int(headers.get("content-length", 0)))))
            (self.script.pop(0) if self.script else self._page(line))(peer)

    def _page(self, line: str) -> Behaviour:
        words = line.rpartition(" ")[0]
        return self.pages.get(words) or self.pages.get(words.partition(" ")[2]) or self.answer


# Names that lead to addresses that are not public.
INNER = {"inner.example": "10.0.0.1", "metadata.example": "169.254.169.254", "loop.example": "127.0.0.2"}


def lead_names_to_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let names below ``example`` lead to 127.0.0.1, which counts as public, except for INNER and gone.example."""
    resolve, is_permitted = socket.getaddrinfo, addresses.is_permitted

    def getaddrinfo(host: str, port: int, *words: Any, **options: Any) -> list[Any]:
        if host == "gone.example":
            raise socket.gaierror
        if host.endswith(".example"):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (INNER.get(host, "127.0.0.1"), port))]
        return resolve(host, port, *words, **options)

    monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(addresses, "is_permitted", lambda ip, **_: ip == "127.0.0.1" or is_permitted(ip))
