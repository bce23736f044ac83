"""Runner of the server (``paste.server_runner``): waitress with a graceful shutdown.

On SIGTERM and SIGINT it stops listening, finishes the requests in flight and exits with 0; waitress itself exits at
once. The setting ``drain`` is the number of seconds that it keeps serving before that, while ``/readyz`` returns 503
and each response closes its connection, so that a load balancer moves its clients to another process.
"""

import ctypes
import logging
import os
import sys
import time
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy.exc import DBAPIError
from waitress.server import BaseWSGIServer

from groundtransport.i18n import translated
from groundtransport.records.search.layout import why_not_ready
from groundtransport.security_log.log import write_counts
from groundtransport.server.channel import Channel
from groundtransport.server.listening import StartError, listen
from groundtransport.server.shutdown import (
    SHUTDOWN_TIMEOUT,
    Sockets,
    drain_connections,
    finish,
    of_type,
    poll,
    shutdown_event,
)
from groundtransport.settings import SettingsError

MAX_DRAIN = 5  # seconds
M_ARENA_MAX, MALLOC_ARENAS = -8, 2  # parameter and value of mallopt(3)


def serve(app: Any, global_conf: Any = None, *, drain: str = "0", **settings: str) -> None:
    """Serve a WSGI application until SIGTERM or SIGINT; ``settings`` are waitress' settings as text.

    ``drain`` is a whole number of seconds, 0 to MAX_DRAIN. Raise SettingsError for another value. End the process with
    1 if the server cannot start.
    """
    drain_seconds = _drain_seconds(drain)
    _limit_malloc_arenas()
    # waitress logs a warning for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    sockets: Sockets = {}
    server = _start(app, sockets, settings)
    ending = shutdown_event(sockets)
    while not ending.is_set():
        poll(server, sockets, server.adj.asyncore_loop_timeout)
    _shut_down(app, server, sockets, drain_seconds)


def _start(app: Any, sockets: Sockets, settings: dict[str, str]) -> Any:
    """Return the listening server; print the reason and end the process with 1 if it cannot start."""
    try:
        check_search_layout(app)
        # select() fails from the 1,024th descriptor on.
        server = listen(app, sockets, {"asyncore_use_poll": "true", **settings})
    except StartError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)  # pserve catches SystemExit of a server and exits with 0
    for listener in of_type(sockets, BaseWSGIServer):
        listener.channel_class = Channel
    server.log_info = partial(print, flush=True)  # shown whatever the log level in the ini
    server.print_listen("Serving on http://{}:{}, until Ctrl+C or SIGTERM")
    return server


def _shut_down(app: Any, server: Any, sockets: Sockets, drain_seconds: int) -> None:
    """Drain, finish the requests in flight, and write the counters of the security log."""
    deadline = time.monotonic() + SHUTDOWN_TIMEOUT
    drain_connections(app, server, sockets, drain_seconds)
    finish(server, sockets, deadline)
    registry = getattr(app, "registry", None)
    if registry is not None:
        write_counts(registry["security_log"])


def _drain_seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= MAX_DRAIN):
        raise SettingsError(f"drain must be a whole number from 0 to {MAX_DRAIN}, not {text!r}")
    return int(text)


def check_search_layout(app: Any) -> None:
    """Raise StartError if searches would miss records.

    ``/readyz``, not this, reports a database that does not answer or is not migrated.
    """
    registry = getattr(app, "registry", None)
    if registry is None:
        return
    with suppress(DBAPIError):
        if reason := why_not_ready(registry["engine"], registry["kinds"].values()):
            raise StartError(translated(reason))


def _limit_malloc_arenas() -> None:
    """Let all threads share two of glibc's memory arenas; with one for each thread, about 8 MB each stay unused."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MALLOC_ARENAS)
