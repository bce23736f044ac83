"""Conditional requests (RFC 9110, 13; RFC 6585, 3): a write names the version that it replaces."""

import re

from pyramid.response import Response

from groundtransport.api.problems import CHANGED, ApiProblem
from groundtransport.api.representation import etag_of
from groundtransport.i18n import _
from groundtransport.request import Request

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"{_TAG}(?:[ \t]*,[ \t]*{_TAG})*")
REQUIRED = _("Name the version that you replace: If-Match with the ETag of the record.")
NO_TAGS = _('${header} must hold entity tags such as "3".')


def check_if_match(request: Request, version: int) -> None:
    """Check that ``If-Match`` names the version of a record.

    Raise ApiProblem: 428 without the header, and for ``*``, which names no version; 412 for another version.
    """
    text = request.headers.get("If-Match", "").strip()
    if text in ("", "*"):
        raise ApiProblem(428, REQUIRED, headers={"ETag": etag_of(version)})
    if etag_of(version) not in parse_tags("If-Match", text):
        raise ApiProblem(412, CHANGED, headers={"ETag": etag_of(version)}, current_version=version)


def is_not_modified(request: Request, version: int) -> bool:
    """Return True if ``If-None-Match`` names the version of a record, or any."""
    text = request.headers.get("If-None-Match", "").strip()
    if text in ("", "*"):
        return text == "*"
    return etag_of(version) in [tag.removeprefix("W/") for tag in parse_tags("If-None-Match", text)]


def parse_tags(header: str, text: str) -> list[str]:
    """Return the entity tags of a header. Raise ApiProblem (400) if it holds anything else."""
    if not _TAGS.fullmatch(text):
        raise ApiProblem(400, _(NO_TAGS, mapping={"header": header}))
    return re.findall(_TAG, text)


def not_modified(version: int) -> Response:
    """Return a 304."""
    return Response(status=304, headerlist=[("ETag", etag_of(version))])
