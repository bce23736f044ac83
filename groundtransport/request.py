"""Request class: typed attributes, the body in memory, and no headers that are slow to parse.

The tween ``request_guard`` has rejected bodies that are too large to be kept in memory. Views and tweens annotate
with this class in place of Pyramid's, which has no types.
"""

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import pyramid.request
from pyramid.httpexceptions import HTTPForbidden
from pyramid.registry import Registry as PyramidRegistry
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from transaction import TransactionManager

from groundtransport.db import Replica
from groundtransport.security import Identity, TokenLimits
from groundtransport.settings import Settings

# The service's own cookies. WebOb parses a header of 64 KiB without cookies for minutes; and if one cookie is not
# UTF-8, such as one of another service on the same host, WebOb cannot read the others either.
OWN_COOKIE = re.compile(r' *(__Host-)?groundtransport[a-z-]*="?[A-Za-z0-9_.-]*"? *', re.ASCII)
# Headers that WebOb parses with patterns whose time is quadratic in the length.
LIST_HEADERS = ("ACCEPT", "ACCEPT_CHARSET", "ACCEPT_ENCODING", "ACCEPT_LANGUAGE", "IF_MATCH", "IF_NONE_MATCH")
MAX_LIST_HEADER = 1_000  # characters; browsers send at most about 150


if TYPE_CHECKING:

    class Registry(PyramidRegistry):
        """Pyramid's registry as the type checker sees it, with the types of the keys that most modules read."""

        @overload
        def __getitem__(self, key: Literal["settings"]) -> Settings: ...
        @overload
        def __getitem__(self, key: Literal["engine"]) -> Engine: ...
        @overload
        def __getitem__(self, key: Literal["replica"]) -> Replica | None: ...
        @overload
        def __getitem__(self, key: Literal["multipart_paths"]) -> set[tuple[str, ...]]: ...
        @overload
        def __getitem__(self, key: Literal["why_not_ready"]) -> Callable[[], str]: ...
        @overload
        def __getitem__(self, key: str) -> Any: ...
        def __getitem__(self, key: str) -> Any: ...

else:
    Registry = PyramidRegistry


class Request(pyramid.request.Request):
    """A request without foreign cookies and without long list headers."""

    registry: Registry
    dbsession: Session
    is_leader_away: bool
    identity: Identity | None
    tm: TransactionManager

    # Replaced by request_guard for requests of clients. Requests of commands and of pshell have no deadline.
    id: str = "-"
    began: float = math.inf  # seconds of time.monotonic()
    # Never use a temporary file, as WebOb does from 10 KiB on: it stays open until garbage collection.
    request_body_tempfile_limit = 1 << 40

    def __init__(self, environ: dict[str, Any], **values: object) -> None:
        super().__init__(environ, **values)
        # Waitress keeps a large body in a temporary file: nothing need copy it into memory.
        if getattr(environ.get("wsgi.input"), "seekable", bool)():
            environ["webob.is_body_seekable"] = True
        if "HTTP_COOKIE" in environ:
            environ["HTTP_COOKIE"] = ";".join(filter(OWN_COOKIE.fullmatch, environ["HTTP_COOKIE"].split(";")))
        for name in LIST_HEADERS:
            if len(environ.get(f"HTTP_{name}", "")) > MAX_LIST_HEADER:
                del environ[f"HTTP_{name}"]

    @property
    def user(self) -> Identity:
        """The signed-in user. Raise HTTPForbidden if there is none; views with a permission always have one."""
        if self.identity is None:
            raise HTTPForbidden
        return self.identity

    @property
    def token_limits(self) -> TokenLimits:
        """The token of a request to the API. Raise HTTPForbidden if there is none."""
        if self.user.token is None:
            raise HTTPForbidden
        return self.user.token


View = Callable[[Any, Request], Any]  # each view names the class of its context
