"""Waitress that ends gracefully: ``use = egg:groundtransport`` in an ini's ``[server:main]``, with waitress' settings.

SIGTERM and SIGINT close the door, let the requests in flight be answered, and end the process with 0. Waitress itself
dies of SIGTERM at once, and of SIGINT without sending what it has. Its own error answers get the headers of all others.

``drain``, a setting of ours, is for how many seconds of that the door stays open: ``/readyz`` says 503, and each answer
ends its connection, so that a proxy turns to another process before it meets a closed door.
"""

import ctypes
import errno
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy.exc import DBAPIError
from waitress import create_server, wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask, WSGITask
from waitress.trigger import trigger
from waitress.utilities import RequestEntityTooLarge

from groundtransport.i18n import translated
from groundtransport.records.search.layout import why_not_ready
from groundtransport.security_log.log import write_counts
from groundtransport.server.dispatcher import TaskDispatcher
from groundtransport.settings import ANONYMOUS_BODY_LIMIT, SettingsError
from groundtransport.web.request_guard import HEADERS

log = logging.getLogger(__name__)

PATIENCE = 8  # seconds from the signal to the end; what stops a service asks for that within ten
DRAIN_MAX = 5  # seconds of these
ARENA_MAX, HEAPS = -8, 2  # mallopt(3), M_ARENA_MAX
ROUND = 0.1  # seconds between two looks at them
BLANKS = re.compile(rb"[ \t\r\n]{100}")  # in a row: no header that is meant well has so many
LENGTH = re.compile(rb"^Content-Length[ \t]*:", re.IGNORECASE | re.MULTILINE)
CODING = re.compile(rb"^Transfer-Encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)


MAX_PORT = 65_535
_REASONS = {
    errno.EADDRINUSE: "another program uses that port; stop it, or take another (make serve PORT=7000, or the ini)",
    errno.EACCES: "that port is for the system administrator; take one from 1024 on",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
}


class StartError(Exception):
    """The server cannot start; the message says why in one sentence."""


class SecurityHeadersMixin:
    """An answer that has the headers of all others, also where waitress itself makes it."""

    channel: Any
    response_headers: list[tuple[str, str]]
    set_close_on_finish: Callable[[], None]

    def build_response_header(self) -> Any:
        if not any(name in HEADERS for name, _value in self.response_headers):
            self.response_headers.extend([*HEADERS.items(), ("Cache-Control", "no-store")])
        if getattr(self.channel.server, "is_ending", False):
            self.set_close_on_finish()
        return super().build_response_header()  # type: ignore[misc]  # waitress' task has it


class Joined:
    """Stands in for a channel, and keeps what is written to it."""

    def __init__(self, channel: HTTPChannel) -> None:
        self.server = channel.server
        self.parts: list[bytes] = []

    def write_soon(self, data: bytes) -> None:
        self.parts.append(data)


class Answer(SecurityHeadersMixin, WSGITask):
    """What the service says, or waitress of a proxy's word that it does not understand."""

    def write(self, data: bytes) -> None:
        """Send the head with the first of the body: waitress sends it alone, and wakes the client twice."""
        if self.wrote_header:
            super().write(data)
            return
        channel = self.channel
        self.channel = joined = Joined(channel)
        try:
            super().write(data)
        finally:
            self.channel = channel
        channel.write_soon(b"".join(joined.parts))


class ErrorAnswer(SecurityHeadersMixin, ErrorTask):
    """What waitress itself says of a request that it could not read."""


class Parser(HTTPRequestParser):
    """What reads a request. It refuses what waitress reads for long, and what a proxy may have read in another way."""

    error: Any = None

    def received(self, data: bytes) -> int:
        """Take bytes of a request, and return how many.

        Of a body in chunks, which no browser and no proxy of ours sends, waitress reads a million in a second of
        processor time, and a chunk's head by the square of its length.
        """
        consumed: int = super().received(data)
        if self.chunked and self.body_bytes_received > ANONYMOUS_BODY_LIMIT and self.error is None:
            self.error = RequestEntityTooLarge(f"a body in chunks has at most {ANONYMOUS_BODY_LIMIT} bytes")
            self.completed = True
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request; raise ParsingError, which is a 400 and closes the connection.

        Two lengths of one body are a way to smuggle a request past a proxy (RFC 9112, 6.1 and 11.2).
        """
        if BLANKS.search(header_plus):  # waitress' pattern takes time by the square of blanks in a row
            raise ParsingError("Too many blanks")
        if CODING.search(header_plus) and LENGTH.search(header_plus):
            raise ParsingError("Content-Length beside Transfer-Encoding")
        try:
            super().parse_header(header_plus)
        except ValueError:  # more digits than Python reads
            raise ParsingError("Content-Length is invalid") from None
        if "TRANSFER_ENCODING" in self.headers:  # waitress takes it out of a request of HTTP/1.1
            raise ParsingError("Transfer-Encoding before HTTP/1.1")


class Channel(HTTPChannel):
    """A connection."""

    parser_class = Parser
    task_class = Answer
    error_task_class = ErrorAnswer

    def send_continue(self) -> None:
        """Ask for the body that a client announced; where there is none, waitress would wait for it for ever."""
        if not self.request.completed:
            super().send_continue()

    def writable(self) -> bool:
        """Whether the loop has something to send; while a thread sends, it waits instead of asking on and on."""
        with self.outbuf_lock:
            return bool(super().writable())

    @property
    def is_busy(self) -> bool:
        """Whether a request is being received, worked on or answered."""
        return bool(self.requests or self.request is not None or self.total_outbufs_len or self.close_when_flushed)


def serve(app: Any, global_conf: Any = None, *, drain: str = "0", **settings: str) -> None:
    """Serve until a signal ends it (a ``paste.server_runner``); ``settings`` are waitress' adjustments as text.

    ``drain`` is a number of seconds, up to ``DRAIN_MAX``; raises SettingsError for another.
    """
    draining = _seconds(drain)
    _share_heaps()
    sockets: dict[int, Any] = {}
    try:
        _refuse_outdated_searches(app)
        # select() breaks at the 1,024th descriptor.
        server = _listen(app, sockets, {"asyncore_use_poll": "true", **settings})
    except StartError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)  # pserve swallows a SystemExit of the server, and ends with 0
    for listener in _all(sockets, BaseWSGIServer):
        listener.channel_class = Channel
    server.log_info = partial(print, flush=True)  # for the terminal and the journal, whatever the ini's level
    server.print_listen("Serving on http://{}:{}, until Ctrl+C or SIGTERM")
    ending = _ending_by_signal(sockets)
    while not ending.is_set():
        _one_round(server, sockets, server.adj.asyncore_loop_timeout)
    until = time.monotonic() + PATIENCE
    _drain(app, server, sockets, draining)
    _end(server, sockets, until)
    registry = getattr(app, "registry", None)
    if registry is not None:
        write_counts(registry["security_log"])


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= DRAIN_MAX):
        raise SettingsError(f"drain must be a whole number from 0 to {DRAIN_MAX}, not {text!r}")
    return int(text)


def _drain(app: Any, server: Any, sockets: dict[int, Any], seconds: int) -> None:
    """Serve on for some seconds, while answers and ``/readyz`` send clients elsewhere."""
    registry = getattr(app, "registry", None)
    if registry is not None:
        registry["is_ending"] = True
    for listener in _all(sockets, BaseWSGIServer):
        listener.is_ending = True
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        _one_round(server, sockets, min(left, ROUND))


def _listen(app: Any, sockets: dict[int, Any], settings: dict[str, str]) -> Any:
    """Return the server, which listens from now on; raise StartError where it cannot."""
    where = settings.get("listen", "")
    _check_ports(where)
    try:
        lane = TaskDispatcher(Adjustments(**settings).threads, _width(app))
        return create_server(app, map=sockets, _dispatcher=lane, **settings)
    except ValueError as error:
        raise StartError(f"[server:main] of the ini is wrong: {error}") from error
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or os.strerror(error.errno or 0).lower()
        raise StartError(f"Cannot listen on {where}: {reason}.") from error


def _check_ports(listen: str) -> None:
    """Raise StartError if an entry of waitress' ``listen`` has a bad port: the C library takes 99999 modulo 65536."""
    for entry in listen.split():
        port = entry.rpartition("]")[2].rpartition(":")[2] if ":" in entry else "8080"
        if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= MAX_PORT):
            raise StartError(f"Cannot listen on {entry}: a port is a number from 1 to {MAX_PORT}.")


def _refuse_outdated_searches(app: Any) -> None:
    """End the start where searches would miss records; a database that is away or not migrated is told by /readyz."""
    registry = getattr(app, "registry", None)
    if registry is None:
        return
    with suppress(DBAPIError):
        if reason := why_not_ready(registry["engine"], registry["kinds"].values()):
            raise StartError(translated(reason))


def _width(app: Any) -> int:
    """Return how many quick requests may be under way: a second one where the first waits for another process."""
    registry = getattr(app, "registry", None)
    return 1 if registry is None or registry["settings"].is_sqlite else 2


def _share_heaps() -> None:
    """Let all threads share two of glibc's heaps: one for each keeps about 8 MB that nobody uses."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(ARENA_MAX, HEAPS)


def _ending_by_signal(sockets: dict[int, Any]) -> threading.Event:
    """Return what the first signal sets; more signals change nothing."""
    ending = threading.Event()

    def note(number: int, frame: Any) -> None:
        ending.set()
        for waker in _all(sockets, trigger):
            waker.pull_trigger()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, note)
    return ending


def _end(server: Any, sockets: dict[int, Any], until: float) -> None:
    """Take who stands in the door, close it, and wait for the requests in flight."""
    for listener in _all(sockets, BaseWSGIServer):
        while listener.accepting and _accept(listener):
            pass
        listener.accepting = False
        wasyncore.dispatcher.close(listener)  # not the trigger beside it, by which the threads wake the loop
    _one_round(server, sockets, 0)  # what has arrived already is in flight, too
    while _close_idle(sockets) and time.monotonic() < until:
        _one_round(server, sockets, ROUND)
    left = len(_all(sockets, Channel))
    if left:
        log.warning("%d requests were not ended within %d seconds", left, PATIENCE)
    server.task_dispatcher.shutdown(timeout=1)


def _accept(listener: Any) -> bool:
    """Accept one connection; return whether there was one."""
    before = len(listener.active_channels)
    listener.handle_accept()
    return len(listener.active_channels) > before


def _close_idle(sockets: dict[int, Any]) -> bool:
    """Close the connections without a request; return whether any is left."""
    for channel in _all(sockets, Channel):
        if not channel.is_busy:
            channel.handle_close()
    return bool(_all(sockets, Channel))


def _one_round(server: Any, sockets: dict[int, Any], wait: float) -> None:
    lane: TaskDispatcher = server.task_dispatcher
    wait = min(wait, lane.patience) if lane.is_waited_for else wait
    wasyncore.loop(timeout=wait, use_poll=server.adj.asyncore_use_poll, map=sockets, count=1)
    lane.overtake()


def _all(sockets: dict[int, Any], what: type) -> list[Any]:
    return [found for found in sockets.values() if isinstance(found, what)]
