"""A browser's side of the measurements: one keep-alive connection, signed in."""

import http.client
import re
import socket
import time
from http.cookies import SimpleCookie
from urllib.parse import urlencode


class Client:
    """Talks to a server on loopback over one warm connection, and keeps its cookies."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self.csrf = ""
        self.connection: http.client.HTTPConnection | None = None

    def ask(
        self, method: str, address: str, form: dict[str, str] | None = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Return status, headers and body of an answer."""
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        body = None
        if form is not None:
            body = urlencode(form)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        if method != "GET":
            sent["X-CSRF-Token"] = self.csrf
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.connect()
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection.request(method, address, body, sent)
        answer = self.connection.getresponse()
        text = answer.read()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(cookie).items() if morsel.value}
        if answer.will_close:
            self.connection.close()
            self.connection = None
        return answer.status, answer.headers, text

    def sign_in(self, user: str, password: str) -> None:
        self.csrf = self._token("/login")
        form = {"username": user, "password": password, "csrf_token": self.csrf}
        status, _, _ = self.ask("POST", "/login", form)
        assert status == 303, status
        self.csrf = self._token("/admin/profile")

    def _token(self, address: str) -> str:
        _, _, page = self.ask("GET", address)
        found = re.search(rb'name="csrf_token" value="([0-9a-f]+)"', page)
        assert found, f"{address} has no form"
        return found[1].decode()


def wait_for(port: int, seconds: float = 60, *, path: str = "/readyz", status: int = 200) -> None:
    """Return when the server answers a path with a status; raise TimeoutError."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Client(port).ask("GET", path)[0] == status:
                return
        except OSError:
            time.sleep(0.005)
    raise TimeoutError("the server did not answer")
