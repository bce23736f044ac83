"""Tween that redirects requests below ``/admin`` to the sign-in, for every path and method.

It also decodes the request once, so that a bad encoding gives a 400 instead of an error in a view. Before that it
rejects bodies that are too large for anonymous clients, and multipart forms at paths where no view reads one, because
parsing those can take seconds.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from pyramid.httpexceptions import HTTPBadRequest, HTTPSeeOther, HTTPUnsupportedMediaType
from pyramid.response import Response

from groundtransport.i18n import _
from groundtransport.request import Registry, Request
from groundtransport.security import Identity, is_api
from groundtransport.settings import ANONYMOUS_BODY_LIMIT
from groundtransport.web.form_limits import check_shape
from groundtransport.web.request_guard import check_size
from groundtransport.web.upload import MULTIPART, accepts_upload, matches, parse_upload
from groundtransport.web.urls import segments, sign_in_url

_CHARSET = re.compile(r"charset\s*=\s*\"?([^\s;\"]*)", re.IGNORECASE)
PROFILE = ("admin", "profile")
SECOND_FACTOR = (*PROFILE, "second-factor")
Handler = Callable[[Request], Response]


def tween(handler: Handler, registry: Registry) -> Handler:
    def require_login(request: Request) -> Response:
        if is_inside(request) and not is_api(request):
            identity = request.session.identity
            if identity is None:
                return HTTPSeeOther(sign_in_url(request))
            if not may_pass(identity, segments(request)):
                return HTTPSeeOther(request.application_url + "/".join(("", *mandatory_page(identity))))
        elif not is_api(request):  # there a token was verified before
            check_size(request, ANONYMOUS_BODY_LIMIT)
        check_encoding(request)
        return handler(request)

    return require_login


def is_inside(request: Request) -> bool:
    """Return True if the path is ``/admin`` or below it. The path may be invalid UTF-8."""
    return segments(request)[:1] == ("admin",)


def mandatory_page(identity: Identity) -> tuple[str, ...]:
    """Return the path of the page that the user must complete first, as segments; () if there is none."""
    if identity.must_change_password:
        return PROFILE
    return SECOND_FACTOR if identity.must_enrol else ()


def may_pass(identity: Identity, path: tuple[str, ...]) -> bool:
    """Return True if the user may open the path: every path, or only the mandatory page (and what is below it)."""
    first = mandatory_page(identity)
    return path == first or (first == SECOND_FACTOR and path[:3] == first) or not first


def check_encoding(request: Request) -> None:
    """Raise HTTPBadRequest for a path, query or form that is not UTF-8.

    Raise HTTPUnsupportedMediaType for a compressed body, and for a multipart form at a path where no view reads one.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity" and request.content_length:
        raise HTTPUnsupportedMediaType(_("The service reads no compressed requests."))
    try:
        request.path_info  # noqa: B018  # decodes the path
        request.GET  # noqa: B018  # decodes the query
        unquote_to_bytes(request.query_string).decode()
        check_charset(request.headers.get("Content-Type", ""))
        if accepts_upload(request):
            parse_upload(request)
            return
        if request.content_type == MULTIPART and not accepts_multipart(request):
            raise HTTPUnsupportedMediaType(_("No form with files is read at this address."))
        if is_api(request):
            return  # no form is read there
        check_shape(request)
        if request.content_type in ("", "application/x-www-form-urlencoded"):  # WebOb parses both as a form
            unquote_to_bytes(request.body).decode()
        elif request.content_type == MULTIPART:
            check_parts(request)
    except (UnicodeError, ValueError, LookupError):
        raise HTTPBadRequest(_("The request is not valid UTF-8.")) from None


def accepts_multipart(request: Request) -> bool:
    """Return True if a view with the option ``accept_multipart`` has this path."""
    path = segments(request)
    return any(matches(path, pattern) for pattern in request.registry["multipart_paths"])


def check_charset(content_type: str) -> None:
    """Raise UnicodeError if the Content-Type header names a charset other than UTF-8."""
    charset = _CHARSET.search(content_type)
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise UnicodeError


def check_parts(request: Request) -> None:
    """Raise UnicodeError if a text field of a multipart form is not UTF-8; files may hold any bytes.

    WebOb decodes each part with the charset of that part's headers; raise LookupError for an unknown charset.
    """
    values = list(request.POST.values())
    for value in values:
        if isinstance(value, str):
            value.encode()  # UTF-7, for one, can encode a lone surrogate
    if all(isinstance(value, str) for value in values):
        request.body.decode()
    elif any("\ufffd" in value for value in values if isinstance(value, str)):
        raise UnicodeError  # WebOb's replacement for invalid UTF-8
