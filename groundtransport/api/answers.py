"""Answers with a record: its ETag, and no body for ``Prefer: return=minimal`` (RFC 7240)."""

import re

from pyramid.response import Response

from groundtransport.api.representation import etag_of, record_json
from groundtransport.api.view import json_response
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.request import Request
from groundtransport.resources import Node

_RETURN = re.compile(r'(?:^|[,;])\s*return\s*=\s*"?(minimal|representation)"?\s*(?=$|[,;])', re.IGNORECASE)


def wants_minimal(request: Request) -> bool:
    """Return True if the client prefers an answer without a body."""
    match = _RETURN.search(request.headers.get("Prefer", ""))
    return bool(match and match[1].lower() == "minimal")


def record_response(request: Request, kind: Kind, row: RecordColumns, status: int = 200) -> Response:
    """Return the answer to a read or a change of a record."""
    is_minimal = wants_minimal(request) and request.method not in ("GET", "HEAD")
    if is_minimal:
        response = Response(status=204, headerlist=[("Preference-Applied", "return=minimal")])
    else:
        response = json_response(record_json(kind, row), status)
    response.headers["ETag"] = etag_of(row.version)
    return response


def url_of(request: Request, context: Node, *elements: str) -> str:
    """Return the absolute URL of a context of the API."""
    path: str = request.context_path(context, *elements)
    return str(request.application_url) + path
