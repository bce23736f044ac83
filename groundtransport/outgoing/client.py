"""Send one HTTP request to a server that a person named.

The host is resolved once; the connection goes to the very address that was checked, so that a second answer of the
name server cannot lead elsewhere (DNS rebinding). Redirects are not followed. A watchdog ends the whole request in
time, however slowly the server answers.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from http.client import HTTPConnection, HTTPException

from groundtransport.outgoing.addresses import BadUrl, Target, parse_url, resolve

TIMEOUT = 10.0  # seconds, from the connection to the end of the answer
ANSWER_MAX = 64 * 1024  # bytes that are read of an answer


class Failure(StrEnum):
    """Why there is no answer. The values are stored."""

    URL = "url"
    ADDRESS = "address"
    NAME = "name"
    TLS = "tls"
    TIME = "time"
    CONNECTION = "connection"


class RequestFailed(Exception):
    """There is no answer, for the reason ``failure``."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(frozen=True)
class Answer:
    """The answer of a server; ``body`` has at most ANSWER_MAX bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context that verifies certificates by those of the system."""
    return ssl.create_default_context()


def send(
    method: str,
    url: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    allow_private: bool,
    allow_http: bool = False,
) -> Answer:
    """Send a request and return the answer, whatever its status. Raise RequestFailed if there is none.

    ``allow_private`` and ``allow_http`` are those of ``parse_url``. Names are resolved before the time of TIMEOUT
    begins.
    """
    try:
        target = parse_url(url, allow_private=allow_private, allow_http=allow_http)
        addresses = resolve(target, allow_private=allow_private)
    except BadUrl as error:
        raise RequestFailed(Failure.URL) from error
    except (OSError, UnicodeError) as error:
        raise RequestFailed(Failure.NAME) from error
    if not addresses:
        raise RequestFailed(Failure.ADDRESS)
    deadline = time.monotonic() + TIMEOUT
    try:
        with _connected(target, addresses, deadline) as sock, _watchdog(sock, deadline) as is_late:
            try:
                return _exchange(target, sock, method, body, headers or {})
            finally:
                if is_late.is_set():
                    raise TimeoutError  # the watchdog cut the answer off
    except (OSError, HTTPException, ValueError) as error:
        raise RequestFailed(_failure(error)) from error


def _failure(error: Exception) -> Failure:
    if isinstance(error, TimeoutError):
        return Failure.TIME
    return Failure.TLS if isinstance(error, ssl.SSLError) else Failure.CONNECTION


def _exchange(
    target: Target, sock: socket.socket, method: str, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    """Send the request over a socket and read the answer."""
    if target.is_tls:
        sock = tls_context().wrap_socket(sock, server_hostname=target.host.rstrip("."))
    connection = HTTPConnection(target.host, target.port)
    connection.default_port = 443 if target.is_tls else 80  # for the field Host
    connection.sock = sock
    try:
        connection.request(method, target.path, body, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, dict(response.headers.items()), response.read(ANSWER_MAX))
    finally:
        connection.close()


@contextmanager
def _connected(target: Target, addresses: list[str], deadline: float) -> Iterator[socket.socket]:
    """Yield a socket that is connected to the first address that accepts. Raise the OSError of the last one."""
    failed: OSError = TimeoutError()
    for address in addresses:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            sock = socket.create_connection((address, target.port), left)
        except OSError as error:
            failed = error
            continue
        with sock:
            yield sock
        return
    raise failed


@contextmanager
def _watchdog(sock: socket.socket, deadline: float) -> Iterator[threading.Event]:
    """Shut the socket down at the deadline; the event says that this has happened."""
    is_late = threading.Event()
    handle = sock.dup()  # TLS takes the socket itself over

    def end() -> None:
        is_late.set()
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()
        timer.join()
        handle.close()
