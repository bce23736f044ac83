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

from pyramid.router import Router
from sqlalchemy.exc import DBAPIError
from waitress.server import BaseWSGIServer

from groundtransport.db import compatibility, postgresql
from groundtransport.i18n import translated
from groundtransport.jobs.runner import BackgroundRunner
from groundtransport.records.search.layout import why_not_ready
from groundtransport.security_log.log import write_counts
from groundtransport.server.channel import Channel
from groundtransport.server.listening import StartError, listen
from groundtransport.server.monitoring_listener import start_monitoring
from groundtransport.server.probes import ProbeDispatcher
from groundtransport.server.shutdown import (
    SHUTDOWN_TIMEOUT,
    Sockets,
    drain_connections,
    finish,
    of_type,
    poll,
    shutdown_event,
)
from groundtransport.server.waiting import WaitingDispatcher, head_reader
from groundtransport.settings import SettingsError, server_settings

MAX_DRAIN = 5  # seconds
NO_LIMITS = "the time limits of statements: set groundtransport.pgbouncer = true."
UNSUPPORTED = "unsupported startup parameter"  # PgBouncer's answer to them
M_ARENA_MAX, MALLOC_ARENAS = -8, 2  # parameter and value of mallopt(3)


def serve(app: Router, global_conf: object = None, **ini: str) -> None:
    """Serve a WSGI application until SIGTERM or SIGINT; ``ini`` has the settings of ``[server:main]`` as text.

    ``drain`` is a whole number of seconds, 0 to MAX_DRAIN. ``monitor`` is the address, ``host:port``, of a second
    listener for metrics and probes; "" for none. The others are waitress'. Raise SettingsError for an invalid value.
    End the process with 1 if the server cannot start.
    """
    settings = server_settings(ini)
    drain, monitor = settings.pop("drain", "0"), settings.pop("monitor", "")
    drain_seconds = _drain_seconds(drain)
    _limit_malloc_arenas()
    # waitress logs a warning for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    sockets: Sockets = {}
    server = _start(app, sockets, settings, monitor)
    ending = shutdown_event(sockets)
    jobs = _start_jobs(app)
    _start_readiness_checks(app)
    while not ending.is_set():
        poll(server, sockets, server.adj.asyncore_loop_timeout)
    _shut_down(app, server, sockets, drain_seconds, jobs)


def _start(app: Router, sockets: Sockets, settings: dict[str, str], monitoring_address: str) -> BaseWSGIServer:
    """Return the listening server; print the reason and end the process with 1 if it cannot start."""
    try:
        check_time_limits(app)
        check_search_layout(app)
        # select() fails from the 1,024th descriptor on.
        server = listen(app, sockets, {"asyncore_use_poll": "true", **settings})
        if monitoring_address:
            start_monitoring(app, monitoring_address)
    except StartError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)  # pserve catches SystemExit of a server and exits with 0
    server.task_dispatcher = _dispatcher(app, server)
    for listener in of_type(sockets, BaseWSGIServer):
        listener.channel_class = Channel
        listener.task_dispatcher = server.task_dispatcher
    server.log_info = partial(print, flush=True)  # shown whatever the log level in the ini
    server.print_listen("Serving on http://{}:{}, until Ctrl+C or SIGTERM")
    return server


def _dispatcher(app: Router, server: BaseWSGIServer) -> ProbeDispatcher | WaitingDispatcher:
    """Return the task dispatcher: health probes have a thread of their own, and waiting requests have none."""
    dispatcher = ProbeDispatcher(server.task_dispatcher)
    registry = getattr(app, "registry", None)
    return dispatcher if registry is None else WaitingDispatcher(dispatcher, head_reader(registry["engine"]))


def _start_jobs(app: Router) -> BackgroundRunner | None:
    """Start the thread that executes background jobs; return None if worker processes execute them."""
    registry = getattr(app, "registry", None)
    if registry is None or registry["settings"].jobs != "thread":
        return None
    jobs = BackgroundRunner(registry)
    jobs.start()
    return jobs


def _start_readiness_checks(app: Router) -> None:
    """Have ``/readyz`` answer from checks in a thread of its own."""
    registry = getattr(app, "registry", None)
    if registry is not None:
        registry["readiness_monitor"].start()


def _shut_down(
    app: object, server: object, sockets: Sockets, drain_seconds: int, jobs: BackgroundRunner | None
) -> None:
    """Drain, finish the requests in flight and the step of a job, and write the counters of the security log."""
    deadline = time.monotonic() + SHUTDOWN_TIMEOUT
    dispatcher = getattr(server, "task_dispatcher", None)
    if isinstance(dispatcher, WaitingDispatcher):
        dispatcher.release()
    if jobs:
        jobs.runner.end()
    drain_connections(app, server, sockets, drain_seconds)
    finish(server, sockets, deadline)
    if jobs:
        jobs.end(deadline - time.monotonic())
    registry = getattr(app, "registry", None)
    if registry is not None:
        registry["readiness_monitor"].end()
        write_counts(registry["security_log"])


def _drain_seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= MAX_DRAIN):
        raise SettingsError(f"drain must be a whole number from 0 to {MAX_DRAIN}, not {text!r}")
    return int(text)


def check_search_layout(app: object) -> None:
    """Raise StartError if searches would miss records.

    ``/readyz``, not this, reports a database that does not answer or is not migrated.
    """
    registry = getattr(app, "registry", None)
    if registry is None:
        return
    with suppress(DBAPIError):
        if registry["schema"].unknown(compatibility.state_of(registry["engine"]).current):
            return  # a newer release has changed the texts; this process is about to be replaced by one of it
        if reason := why_not_ready(registry["engine"], registry["kinds"].values()):
            raise StartError(translated(reason))


def check_time_limits(app: Router) -> None:
    """Raise StartError if PostgreSQL would execute a statement without a time limit."""
    engine = app.registry["engine"] if hasattr(app, "registry") else None
    if engine is None or engine.dialect.name != "postgresql":
        return
    try:
        has_limits = postgresql.has_limits(engine)
    except DBAPIError as error:  # reported by ``/readyz``, unless no attempt can succeed
        if UNSUPPORTED in str(error):
            raise StartError(f"PgBouncer refuses {NO_LIMITS}") from error
        return
    if not has_limits:
        raise StartError(f"PgBouncer ignores {NO_LIMITS}")


def _limit_malloc_arenas() -> None:
    """Let all threads share two of glibc's memory arenas; with one for each thread, about 8 MB each stay unused."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MALLOC_ARENAS)
