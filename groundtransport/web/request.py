"""The request: Pyramid's, with its body in memory, with our own cookies alone, without endless lists, and of one class.

The guard has refused a body that is too large for that.
"""

import math
import re
from typing import Any

from pyramid.config import Configurator
from pyramid.interfaces import IRequestExtensions, IRequestFactory
from pyramid.request import Request

# Our own never hold more. WebOb reads a header of 64 KiB that is no cookie for minutes, and of one that is not UTF-8,
# which another service of the same host may have set, not even the cookies beside it.
OURS = re.compile(r' *(__Host-)?groundtransport[a-z-]*="?[A-Za-z0-9_.-]*"? *', re.ASCII)
# What WebOb reads with patterns whose time grows with the square of the length.
LISTS = ("ACCEPT", "ACCEPT_CHARSET", "ACCEPT_ENCODING", "ACCEPT_LANGUAGE", "IF_MATCH", "IF_NONE_MATCH")
LIST_MAX = 1_000  # characters; a browser's longest has 150


class MemoryRequest(Request):
    # The guard says better of one that came in; a request that a command or pshell makes has no end of its time.
    id, began = "-", math.inf
    # WebOb's limit is 10 KiB; beyond it, a temporary file stays open until the garbage is collected.
    request_body_tempfile_limit = 1 << 40

    def __init__(self, environ: dict[str, Any], **values: Any) -> None:
        super().__init__(environ, **values)
        if "HTTP_COOKIE" in environ:
            environ["HTTP_COOKIE"] = ";".join(filter(OURS.fullmatch, environ["HTTP_COOKIE"].split(";")))
        for name in LISTS:
            if len(environ.get(f"HTTP_{name}", "")) > LIST_MAX:
                del environ[f"HTTP_{name}"]  # as if they had no preference


def complete(config: Configurator) -> None:
    """Put what ``config.add_request_method`` has added on the class of the requests; called last, before the start.

    Pyramid makes a new class for every request, where there are properties, and gives it each method: Python finds
    nothing again that it knows of the class of the request before.
    """
    config.commit()
    ours, added = map(config.registry.queryUtility, (IRequestFactory, IRequestExtensions))
    config.set_request_factory(type(ours.__name__, (ours,), {**added.methods, **added.descriptors}))
    added.methods.clear()
    added.descriptors.clear()
