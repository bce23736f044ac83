"""Building URLs of the service, and checking that a redirect target is one of them."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlencode, urlsplit

from pyramid.traversal import split_path_info

from groundtransport.request import Request
from groundtransport.resources import KindDeclaration, Node, class_at
from groundtransport.web.predicates import asks_for_json
from groundtransport.web.view_methods import view_methods

_ID = re.compile(r"[0-9]+", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def context_path(request: Request, context: Node, *elements: str, query: Mapping[str, str] | str | None = None) -> str:
    """Return the path of a context, without trailing slash; ``query`` is a mapping or an encoded string."""
    path = request.resource_path(context, *elements)
    path = path.rstrip("/") or "/"
    text = query if isinstance(query, str) else urlencode(query or {})
    return f"{path}?{text}" if text else path


def is_ours(target: str) -> bool:
    """Return True if ``target`` is an ASCII path of this service, not a URL of another host."""
    if not target.startswith("/") or target.startswith("//") or not target.isascii() or _CONTROL.search(target):
        return False
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return not parts.scheme and not parts.netloc


def next_url(request: Request, target: str) -> str:
    """Return the URL to open after a sign-in: ``target`` if it is a page of this service, else ``/admin``."""
    return target if is_ours(target) and not _is_write_only(request, target) else "/admin"


def _is_write_only(request: Request, target: str) -> bool:
    """Return True if the path has views, but none for GET, as ``/logout``."""
    context_class, rest = class_at(split_path_info(unquote(urlsplit(target).path)), request.registry["kinds"])
    methods = view_methods(request.registry, context_class, rest[0] if rest else "")
    return len(rest) <= 1 and bool(methods) and "GET" not in methods


def return_url(request: Request) -> str:
    """Return the URL to open after a sign-in: the page itself; the kind's list for JSON, fragments and writes."""
    path = segments(request)
    kind = request.registry["kinds"].get(path[1]) if len(path) > 1 else None
    if request.method in ("GET", "HEAD") and not _is_partial(request, path, kind):
        return page_url(request)
    return f"/admin/{kind.name}" if kind else "/admin"


def page_url(request: Request) -> str:
    """Return the path and query of a request; ``/admin`` if they are not valid UTF-8."""
    try:
        return str(request.path_qs)
    except UnicodeDecodeError:
        return "/admin"


def segments(request: Request) -> tuple[str, ...]:
    """Return the segments of the path as traversal sees them, with ``..`` resolved; invalid UTF-8 is replaced."""
    raw = request.environ.get("PATH_INFO", "").encode("latin-1")
    return tuple(split_path_info(raw.decode(errors="replace")))


def _is_partial(request: Request, path: tuple[str, ...], kind: KindDeclaration | None) -> bool:
    """Return True if the URL returns JSON or an HTML fragment rather than a page."""
    if kind is None:
        return path[1:] in (("airports",), ("session",)) or _has_ajax(request)
    name = path[2] if len(path) > 2 else ""
    return _has_ajax(request) or name in kind.collection.partial or (len(path) == 3 and bool(_ID.fullmatch(name)))


def _has_ajax(request: Request) -> bool:
    try:
        return asks_for_json(request)
    except UnicodeDecodeError:
        return True


def sign_in_url(request: Request, missing: str = "") -> str:
    """Return the URL of ``/login`` with the return URL; ``missing`` is a permission that the user lacks."""
    query = f"next={quote(return_url(request), safe='/')}"
    return f"{request.application_url}/login?{query}" + (f"&missing={quote(missing)}" if missing else "")
