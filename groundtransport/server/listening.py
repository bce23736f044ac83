"""Opening the listening sockets, with an error message for each reason of failure."""

import errno
import os
from typing import Any

from pyramid.router import Router
from waitress import create_server
from waitress.server import BaseWSGIServer

MAX_PORT = 65_535
DEFAULT_PORT = "8080"  # waitress'
REASONS = {
    errno.EADDRINUSE: "another program uses that port; stop it, or take another (make serve PORT=7000, or the ini)",
    errno.EACCES: "that port is for the system administrator; take one from 1024 on",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
}


class StartError(Exception):
    """The server cannot start. The message gives the reason in one sentence."""


def listen(app: Router, sockets: dict[int, Any], settings: dict[str, str]) -> BaseWSGIServer:
    """Return waitress' server for a WSGI application, listening; its sockets are added to ``sockets``.

    ``settings`` are waitress' settings as text. Raise StartError if one is invalid or a socket cannot be opened.
    """
    entries = settings.get("listen", "")
    _check_ports(entries)
    try:
        return create_server(app, map=sockets, **settings)
    except ValueError as error:
        raise StartError(f"[server:main] of the ini is wrong: {error}") from error
    except OSError as error:
        reason = REASONS.get(error.errno or 0) or os.strerror(error.errno or 0).lower()
        raise StartError(f"Cannot listen on {entries}: {reason}.") from error


def _check_ports(entries: str) -> None:
    """Raise StartError if an entry of ``listen`` has an invalid port; the C library takes 99999 modulo 65536."""
    for entry in entries.split():
        port = entry.rpartition("]")[2].rpartition(":")[2] if ":" in entry else DEFAULT_PORT
        if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= MAX_PORT):
            raise StartError(f"Cannot listen on {entry}: a port is a number from 1 to {MAX_PORT}.")
