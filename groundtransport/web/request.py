"""Request class: the body is kept in memory, and headers that are slow to parse are removed.

The tween ``request_guard`` has rejected bodies that are too large to be kept in memory.
"""

import math
import re
from typing import Any

from pyramid.request import Request

# The service's own cookies. WebOb parses a header of 64 KiB without cookies for minutes; and if one cookie is not
# UTF-8, such as one of another service on the same host, WebOb cannot read the others either.
OWN_COOKIE = re.compile(r' *(__Host-)?groundtransport[a-z-]*="?[A-Za-z0-9_.-]*"? *', re.ASCII)
# Headers that WebOb parses with patterns whose time is quadratic in the length.
LIST_HEADERS = ("ACCEPT", "ACCEPT_CHARSET", "ACCEPT_ENCODING", "ACCEPT_LANGUAGE", "IF_MATCH", "IF_NONE_MATCH")
MAX_LIST_HEADER = 1_000  # characters; browsers send at most about 150


class MemoryRequest(Request):
    """A request without foreign cookies and without long list headers."""

    # Replaced by request_guard for requests of clients. Requests of commands and of pshell have no deadline.
    id, began = "-", math.inf
    # Never use a temporary file, as WebOb does from 10 KiB on: it stays open until garbage collection.
    request_body_tempfile_limit = 1 << 40

    def __init__(self, environ: dict[str, Any], **values: Any) -> None:
        super().__init__(environ, **values)
        if "HTTP_COOKIE" in environ:
            environ["HTTP_COOKIE"] = ";".join(filter(OWN_COOKIE.fullmatch, environ["HTTP_COOKIE"].split(";")))
        for name in LIST_HEADERS:
            if len(environ.get(f"HTTP_{name}", "")) > MAX_LIST_HEADER:
                del environ[f"HTTP_{name}"]
