"""Limits of a form's fields and headers, checked before the form is parsed.

The form parser takes time quadratic in the length of a part's headers, and fails on nested multipart bodies.
"""

import re

from pyramid.httpexceptions import HTTPBadRequest
from webob.compat import parse_header

from groundtransport.i18n import _
from groundtransport.request import Request

FIELDS_MAX = 5_000  # of one form
HEAD_MAX = 1_000  # bytes of the Content-Type header, and of the headers of a multipart part
SHAPELESS = _("The form is not one that a browser sends.")
_BLANK_LINE = re.compile(rb"\n[ \t\r\f\v]*\n")


def check_shape(request: Request) -> None:
    """Raise HTTPBadRequest if the form has too many fields or parts, or headers that are too long."""
    content_type = request.headers.get("Content-Type", "")
    if len(content_type) > HEAD_MAX:
        raise HTTPBadRequest(SHAPELESS)
    if request.content_type == "multipart/form-data":
        _check_parts(request.body, parse_header(content_type)[1].get("boundary", ""))
    elif request.body.count(b"&") >= FIELDS_MAX:
        raise HTTPBadRequest(SHAPELESS)


def _check_parts(body: bytes, boundary: str) -> None:
    """Raise HTTPBadRequest for a multipart body with too many parts, long part headers or nested parts."""
    line = rb"^[ \t\r\f\v]*--" + re.escape(boundary.encode("latin-1")) + rb"(?:--)?[ \t\r\f\v]*$"
    parts = re.split(line, body, flags=re.MULTILINE)[1:]
    if len(parts) > FIELDS_MAX:
        raise HTTPBadRequest(SHAPELESS)
    for part in filter(bytes.strip, parts):
        end = _BLANK_LINE.search(part)
        if end is None or end.end() > HEAD_MAX or b"multipart/" in part[: end.end()].lower():
            raise HTTPBadRequest(SHAPELESS)
