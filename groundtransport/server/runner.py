"""Waitress that ends gracefully: ``use = egg:groundtransport`` in an ini's ``[server:main]``, with waitress' settings.

SIGTERM and SIGINT close the door, let the requests in flight be answered, and end the process with 0. Waitress itself
dies of SIGTERM at once, and of SIGINT without sending what it has. Its own error answers get the headers of all others.
"""

import ctypes
import logging
import re
import signal
import threading
import time
from contextlib import suppress
from typing import Any

from waitress import create_server, wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask, WSGITask
from waitress.trigger import trigger

from groundtransport.accounts.security_log import write_counts
from groundtransport.server.dispatcher import TaskDispatcher
from groundtransport.web.request_guard import HEADERS

log = logging.getLogger(__name__)

PATIENCE = 8  # seconds for the requests in flight; what stops a service asks for its end within ten
ARENA_MAX, HEAPS = -8, 2  # mallopt(3), M_ARENA_MAX
ROUND = 0.1  # seconds between two looks at them
BLANKS = re.compile(rb"[ \t\r\n]{100}")  # in a row: no header that is meant well has so many


class SecurityHeadersMixin:
    """An answer that has the headers of all others, also where waitress itself makes it."""

    response_headers: list[tuple[str, str]]

    def build_response_header(self) -> Any:
        if not any(name in HEADERS for name, _value in self.response_headers):
            self.response_headers.extend([*HEADERS.items(), ("Cache-Control", "no-store")])
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

    channel: Any

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
    """What reads a request; the pattern that waitress does it with takes time by the square of blanks in a row."""

    def parse_header(self, header_plus: bytes) -> None:
        if BLANKS.search(header_plus):
            raise ParsingError("Too many blanks")
        super().parse_header(header_plus)


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


def serve(app: Any, global_conf: Any = None, **settings: str) -> None:
    """Serve until a signal ends it (a ``paste.server_runner``); ``settings`` are waitress' adjustments as text."""
    _share_heaps()
    sockets: dict[int, Any] = {}
    lane = TaskDispatcher(Adjustments(**settings).threads, _width(app))
    # select() breaks at the 1,024th descriptor.
    server = create_server(app, map=sockets, _dispatcher=lane, **{"asyncore_use_poll": "true", **settings})
    for listener in _all(sockets, BaseWSGIServer):
        listener.channel_class = Channel
    server.print_listen("Serving on http://{}:{}")
    ending = _ending_by_signal(sockets)
    while not ending.is_set():
        _one_round(server, sockets, server.adj.asyncore_loop_timeout)
    _end(server, sockets)
    registry = getattr(app, "registry", None)
    if registry is not None:
        write_counts(registry["security_log"])


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


def _end(server: Any, sockets: dict[int, Any]) -> None:
    """Take who stands in the door, close it, and wait for the requests in flight."""
    for listener in _all(sockets, BaseWSGIServer):
        while listener.accepting and _accept(listener):
            pass
        listener.accepting = False
        wasyncore.dispatcher.close(listener)  # not the trigger beside it, by which the threads wake the loop
    _one_round(server, sockets, 0)  # what has arrived already is in flight, too
    until = time.monotonic() + PATIENCE
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
