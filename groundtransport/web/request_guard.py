"""Outermost tween: checks the host, the request line and the size of a request, and sets the response headers.

It turns every exception of the inner layers into an error page. A subscriber refuses paths that no view reads whole.
"""

import logging
import re
import secrets
import sys
import time
from collections.abc import Callable

from pyramid.events import ContextFound, subscriber
from pyramid.httpexceptions import HTTPBadRequest, HTTPNotFound, HTTPRequestEntityTooLarge
from pyramid.response import Response

from groundtransport import logs
from groundtransport.db import deadline
from groundtransport.i18n import _
from groundtransport.request import Registry, Request
from groundtransport.security import is_api, is_public
from groundtransport.settings import Settings
from groundtransport.web.upload import OVERHEAD, accepts_upload
from groundtransport.web.urls import segments

log = logging.getLogger(__name__)

Handler = Callable[[Request], Response]

_HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://(?P<host>[^/?#]*)", re.IGNORECASE | re.ASCII)

_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,32}", re.ASCII)  # as long as the columns that store it

BEGAN = "groundtransport.began"  # key in the WSGI environ: time.monotonic() of the request's first attempt

# As OWASP ASVS 5.0 V3.4 demands. No page has inline scripts or styles, so no 'unsafe-' keyword is needed.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


CACHEABLE = (200, 206, 304)  # statuses of static files and public records that browsers may cache


@subscriber(ContextFound)
def refuse_further_segments(event: ContextFound) -> None:
    """Raise HTTPNotFound if the path goes on behind the name of a view: only the view of files reads its subpath."""
    request = event.request
    if request.subpath and "subpath" not in (request.matchdict or {}):
        raise HTTPNotFound


def tween(handler: Handler, registry: Registry) -> Handler:
    settings = registry["settings"]

    def guard(request: Request) -> Response:
        request.id = request_id_of(request, is_trusted=settings.trust_request_id)
        logs.request_id.set(request.id)
        request.began = request.environ.setdefault(BEGAN, time.monotonic())  # a retry gets no extra time
        with deadline.until(request.began + settings.request_budget):
            return respond(request)

    def respond(request: Request) -> Response:
        try:
            check_host(request, settings.hosts)
            check_target(request)
            check_size(request, body_limit(request, settings))
            response = handler(request)
        except Exception:
            response = explain(request)
        return with_headers(request, response)

    return guard


def request_id_of(request: Request, *, is_trusted: bool) -> str:
    """Return the proxy's ``X-Request-Id`` if it ``is_trusted`` and well formed, else a new id."""
    header = request.headers.get("X-Request-Id", "")
    return header if is_trusted and _REQUEST_ID.fullmatch(header) else secrets.token_hex(8)


def explain(request: Request) -> Response:
    """Return the error page of the current exception; a plain text if rendering that page fails."""
    try:
        return request.invoke_exception_view(sys.exc_info())
    except Exception:
        log.exception("request %s: the error page failed", request.id)
        return Response(f"Something went wrong ({request.id}).", status=500, content_type="text/plain", charset="utf-8")


def check_host(request: Request, hosts: tuple[str, ...]) -> None:
    """Raise HTTPBadRequest unless the Host header is one of ``hosts``, with any port."""
    match = _HOST.fullmatch(request.host.lower())
    if not match or match["name"] not in hosts:
        # The error page must not use the foreign host in its links.
        request.environ["HTTP_HOST"] = hosts[0]
        raise HTTPBadRequest(_("This address is not one of the service's own."))


def check_target(request: Request) -> None:
    """Raise HTTPBadRequest if the request target names a host other than the Host header's, or has no valid form.

    Valid forms (RFC 9112, 3.2) are a path, an absolute URL, whose host takes precedence, and ``*``.
    """
    target = request.environ.get("REQUEST_URI", "/")  # the request target as sent; set by waitress
    absolute = _ABSOLUTE.match(target)
    if absolute and absolute["host"].lower() == request.host.lower():
        return
    if absolute or not (target.startswith("/") or target == "*"):
        raise HTTPBadRequest(_("This is not an address of the service."))


def check_size(request: Request, limit: int) -> None:
    """Raise HTTPRequestEntityTooLarge for a body over ``limit`` bytes."""
    if (request.content_length or 0) > limit:
        raise HTTPRequestEntityTooLarge(_("What was sent is larger than ${size} KiB.", mapping={"size": limit // 1024}))


def body_limit(request: Request, settings: Settings) -> int:
    """Return the largest body of a request, in bytes."""
    if accepts_upload(request):
        return settings.import_size + OVERHEAD
    return settings.api_body_limit if is_api(request) else settings.body_limit


def with_headers(request: Request, response: Response) -> Response:
    """Return the response with the security headers, the request id and a Cache-Control header.

    That is ``no-store`` except for static files, records of the API and public records.
    """
    response.headers.update(HEADERS)
    if is_public(request):
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Request-Id"] = request.id
    if request.scheme == "https":
        response.headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
    if is_api(request) and "ETag" in response.headers:
        response.headers["Cache-Control"] = "private, no-cache"  # may be kept, and is asked for again by its ETag
    elif not (segments(request)[:1] in (("static",), ("public",)) and response.status_int in CACHEABLE):
        response.headers["Cache-Control"] = "no-store"
    return response
