"""A TCP proxy between the application and PostgreSQL, that can fall silent, be slow, or lose a COMMIT or its answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import URL, make_url

from tests.site import Site

COMMIT = b"COMMIT\0"


class DatabaseProxy:
    """Listens on a free port of this machine; what its attributes say holds for every connection from then on."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.delay = 0.0  # seconds for each packet, either way
        self.is_silent = False  # it reads on, acknowledges, passes nothing on and closes nothing
        self.takes_connections = True  # else a new one is accepted and never answered
        self.at_commit: Callable[[Link], None] | None = None  # is given the next COMMIT in place of the server, once
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.links: list[Link] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def client_url(self) -> str:
        """The database's address by way of the proxy."""
        query = {name: value for name, value in self.url.query.items() if name not in ("host", "port")}
        url = self.url.set(host="127.0.0.1", port=self.listener.getsockname()[1], query=query)
        return url.render_as_string(hide_password=False)

    def server(self) -> socket.socket:
        folder = self.url.query.get("host")
        if folder:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(f"{folder}/.s.PGSQL.{self.url.port or 5432}")
            return connection
        return socket.create_connection((self.url.host or "localhost", self.url.port or 5432))

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.links.append(Link(self, client))

    def close(self) -> None:
        self.listener.close()
        for link in self.links:
            link.close()


class Link:
    """One connection through the proxy."""

    def __init__(self, proxy: DatabaseProxy, client: socket.socket) -> None:
        self.proxy, self.client = proxy, client
        self.is_silent = False
        self.answer_is_lost = False
        self.answered = threading.Event()  # set when the server has answered what ``send`` sent
        self.server = proxy.server() if proxy.takes_connections else None
        if self.server:
            threading.Thread(target=self._forward, daemon=True).start()
            threading.Thread(target=self._back, daemon=True).start()

    def send(self, data: bytes) -> None:
        assert self.server
        self.server.sendall(data)

    def send_and_wait(self, data: bytes) -> None:
        """Let the server do it, and keep its answer from the client."""
        self.answer_is_lost = True
        self.send(data)
        assert self.answered.wait(10)

    def close(self) -> None:
        for end in filter(None, (self.client, self.server)):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _forward(self) -> None:
        with suppress(OSError):
            while data := self.client.recv(1 << 16):
                time.sleep(self.proxy.delay)
                if self.is_silent or self.proxy.is_silent:
                    continue
                if COMMIT in data and self.proxy.at_commit:
                    fault, self.proxy.at_commit = self.proxy.at_commit, None
                    self.commit = data
                    fault(self)
                else:
                    self.send(data)
        if not (self.is_silent or self.proxy.is_silent):  # else the server does not hear of the end either
            self.close()

    def _back(self) -> None:
        assert self.server
        with suppress(OSError):
            while data := self.server.recv(1 << 16):
                time.sleep(self.proxy.delay)
                if self.answer_is_lost:
                    self.answered.set()
                elif not (self.is_silent or self.proxy.is_silent):
                    self.client.sendall(data)
        if not (self.is_silent or self.proxy.is_silent):
            self.close()


@contextmanager
def between(site: Site) -> Iterator[tuple[Site, DatabaseProxy]]:
    """Yield the application of a site once more, with a proxy in front of its PostgreSQL."""
    proxy = DatabaseProxy(make_url(site.url))
    with site.again(**{"sqlalchemy.url": proxy.client_url}) as other:
        try:
            yield other, proxy
        finally:
            proxy.close()
