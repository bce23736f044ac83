"""The gate of ``/admin``: nobody gets past it, to whatever address and by whatever method, without a sign-in.

It also reads the request's text once, so that a broken encoding is a 400 and no view's surprise.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from pyramid.httpexceptions import HTTPBadRequest, HTTPSeeOther, HTTPUnsupportedMediaType
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response

from groundtransport.i18n import _
from groundtransport.security import Identity
from groundtransport.web.form_limits import check_shape
from groundtransport.web.urls import segments, sign_in_url

_CHARSET = re.compile(r"charset\s*=\s*\"?([^\s;\"]*)", re.IGNORECASE)
PROFILE = ("admin", "profile")
SECOND_FACTOR = (*PROFILE, "second-factor")
Handler = Callable[[Request], Response]


def tween(handler: Handler, registry: Registry) -> Handler:
    def gate(request: Request) -> Response:
        if is_inside(request):
            identity = request.session.identity
            if identity is None:
                return HTTPSeeOther(sign_in_url(request))
            if not may_pass(identity, segments(request)):
                return HTTPSeeOther(request.application_url + "/".join(("", *first_of_all(identity))))
        check_encoding(request)
        return handler(request)

    return gate


def is_inside(request: Request) -> bool:
    """Whether the address is ``/admin`` or below it; asked of the raw path, which may not be text at all."""
    return segments(request)[:1] == ("admin",)


def first_of_all(identity: Identity) -> tuple[str, ...]:
    """Return where a person must go before anything else opens; () where everything is open."""
    if identity.must_change_password:
        return PROFILE
    return SECOND_FACTOR if identity.must_enrol else ()


def may_pass(identity: Identity, path: tuple[str, ...]) -> bool:
    first = first_of_all(identity)
    return path == first or (first == SECOND_FACTOR and path[:3] == first) or not first


def check_encoding(request: Request) -> None:
    """Raise HTTPBadRequest for a path, query or form that is not UTF-8; HTTPUnsupportedMediaType for a packed one."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity" and request.content_length:
        raise HTTPUnsupportedMediaType(_("The service reads no compressed requests."))
    try:
        request.path_info  # noqa: B018  # reading it decodes it
        request.GET  # noqa: B018  # the same
        unquote_to_bytes(request.query_string).decode()
        check_charset(request.headers.get("Content-Type", ""))
        check_shape(request)
        if request.content_type in ("", "application/x-www-form-urlencoded"):  # WebOb reads either as a form
            unquote_to_bytes(request.body).decode()
        elif request.content_type == "multipart/form-data":
            check_parts(request)
    except (UnicodeError, ValueError, LookupError):
        raise HTTPBadRequest(_("The request is not valid UTF-8.")) from None


def check_charset(content_type: str) -> None:
    """Raise UnicodeError for a form in an encoding other than UTF-8."""
    stated = _CHARSET.search(content_type)
    if stated and stated[1].lower() not in ("utf-8", "utf8"):
        raise UnicodeError


def check_parts(request: Request) -> None:
    """Raise UnicodeError for a text that is not UTF-8; of a file, whose bytes are its own, nothing is asked.

    WebOb reads a part in the encoding that it states, and raises LookupError for one that there is not.
    """
    values = list(request.POST.values())
    for value in values:
        if isinstance(value, str):
            value.encode()  # UTF-7 and its like can spell half a character
    if all(isinstance(value, str) for value in values):
        request.body.decode()
    elif any("\ufffd" in value for value in values if isinstance(value, str)):
        raise UnicodeError  # WebOb puts it where a text is not UTF-8
