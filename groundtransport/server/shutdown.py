"""Graceful shutdown: drain, stop accepting connections, finish the requests in flight."""

import logging
import signal
import threading
import time
from typing import TypeVar

from waitress import wasyncore
from waitress.server import BaseWSGIServer
from waitress.trigger import trigger

from groundtransport.server.channel import Channel

log = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT = 8  # seconds from the signal to the end; service managers kill a process after ten
POLL_INTERVAL = 0.1  # seconds between two checks for open connections
Sockets = dict[int, object]
Dispatcher = TypeVar("Dispatcher")


def of_type(sockets: Sockets, dispatcher_type: type[Dispatcher]) -> list[Dispatcher]:
    """Return the sockets of a type: listeners, channels (connections) or triggers."""
    return [dispatcher for dispatcher in sockets.values() if isinstance(dispatcher, dispatcher_type)]


def poll(server: BaseWSGIServer, sockets: Sockets, timeout: float) -> None:
    """Run one round of waitress' loop; wait up to ``timeout`` seconds for events."""
    wasyncore.loop(timeout=timeout, use_poll=server.adj.asyncore_use_poll, map=sockets, count=1)


def shutdown_event(sockets: Sockets) -> threading.Event:
    """Return an event that the first SIGTERM or SIGINT sets; further signals have no effect."""
    event = threading.Event()

    def handle_signal(number: int, frame: object) -> None:
        event.set()
        for waker in of_type(sockets, trigger):
            waker.pull_trigger()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle_signal)
    return event


def drain_connections(app: object, server: object, sockets: Sockets, seconds: int) -> None:
    """Keep serving for some seconds while ``/readyz`` returns 503 and each response closes its connection."""
    registry = getattr(app, "registry", None)
    if registry is not None:
        registry["is_ending"] = True
    for listener in of_type(sockets, BaseWSGIServer):
        listener.is_ending = True
    end = time.monotonic() + seconds
    while (seconds_left := end - time.monotonic()) > 0:
        poll(server, sockets, min(seconds_left, POLL_INTERVAL))


def finish(server: BaseWSGIServer, sockets: Sockets, deadline: float) -> None:
    """Accept the pending connections, stop listening, and wait for the requests in flight.

    ``deadline`` is a time of ``time.monotonic()``; requests that are not finished by then are logged and dropped.
    """
    for listener in of_type(sockets, BaseWSGIServer):
        while listener.accepting and _accept(listener):
            pass
        listener.accepting = False
        wasyncore.dispatcher.close(listener)  # listener.close() would close the trigger too, which wakes the loop
    poll(server, sockets, 0)  # reads requests that have arrived
    while _close_idle(sockets) and time.monotonic() < deadline:
        poll(server, sockets, POLL_INTERVAL)
    unfinished = len(of_type(sockets, Channel))
    if unfinished:
        log.warning("%d requests were not finished within %d seconds", unfinished, SHUTDOWN_TIMEOUT)
    server.task_dispatcher.shutdown(timeout=1)


def _accept(listener: BaseWSGIServer) -> bool:
    """Accept one pending connection; return False if there was none."""
    before = len(listener.active_channels)
    listener.handle_accept()
    return len(listener.active_channels) > before


def _close_idle(sockets: Sockets) -> bool:
    """Close the connections without a request; return True if others are left."""
    for channel in of_type(sockets, Channel):
        if not channel.is_busy:
            channel.handle_close()
    return bool(of_type(sockets, Channel))
