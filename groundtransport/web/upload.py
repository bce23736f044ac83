"""Multipart forms with large files: parsed in blocks, with each file in a temporary file.

WebOb would keep the whole body in memory and parse it line by line. A view declares its path by the option
``accept_upload``, such as ``/admin/*/import``; only requests of signed-in users are parsed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from multipart import MultipartError, MultipartSegment, ParserLimitReached, PushMultipartParser, parse_options_header
from pyramid.httpexceptions import HTTPBadRequest, HTTPRequestEntityTooLarge
from webob.multidict import MultiDict

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.web.form_limits import HEAD_MAX, SHAPELESS
from groundtransport.web.urls import segments

MULTIPART = "multipart/form-data"
BLOCK = 64 * 1024  # bytes
TEXT_MAX = 64 * 1024  # bytes of a field that is kept in memory as text
SEGMENTS_MAX = 30  # fields and files of one form
OVERHEAD = 128 * 1024  # bytes of an upload besides its file


@dataclass(frozen=True)
class UploadedFile:
    """A file of a form, or a text longer than TEXT_MAX; ``filename`` is "" for a text. Closed after the request."""

    filename: str
    size: int
    file: IO[bytes]

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield the content from its beginning, in blocks of at most ``size`` bytes."""
        self.file.seek(0)
        return iter(lambda: self.file.read(size), b"")


def matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return True if the segments of a path equal those of the pattern, where ``*`` matches any segment."""
    return len(path) == len(pattern) and all(
        expected in ("*", segment) for segment, expected in zip(path, pattern, strict=True)
    )


def accepts_upload(request: Request) -> bool:
    """Return True if the request is a multipart form at the path of a view with the option ``accept_upload``."""
    if request.content_type != MULTIPART:
        return False
    path = segments(request)
    return any(matches(path, pattern) for pattern in request.registry["upload_paths"])


def parse_upload(request: Request) -> None:
    """Parse the body into ``request.POST``, with an UploadedFile for each file.

    Raise HTTPBadRequest for a malformed form and HTTPRequestEntityTooLarge for a file that is too large.
    """
    fields: MultiDict = MultiDict()
    try:
        for segment, content in _segments(request):
            fields.add(segment.name, _value(segment, content))
    except ParserLimitReached:
        limit = request.registry["settings"].import_size
        text = _("The file is larger than ${size} MB.", mapping={"size": limit // 1024**2})
        raise HTTPRequestEntityTooLarge(text) from None
    except MultipartError:
        raise HTTPBadRequest(SHAPELESS) from None
    request.environ["webob._parsed_post_vars"] = (fields, request.body_file_raw)


def _segments(request: Request) -> Iterator[tuple[MultipartSegment, object]]:
    """Yield each part of the form with the temporary file of its content; contents up to TEXT_MAX are in memory."""
    boundary = parse_options_header(request.headers["Content-Type"])[1].get("boundary", "")
    segment, content = None, None
    with PushMultipartParser(
        boundary,
        request.content_length or 0,
        max_header_size=HEAD_MAX,
        max_segment_count=SEGMENTS_MAX,
        max_segment_size=request.registry["settings"].import_size,
    ) as parser:
        for block in _blocks(request):
            for event in parser.parse(block):
                if isinstance(event, MultipartSegment):
                    segment, content = event, SpooledTemporaryFile(TEXT_MAX)  # noqa: SIM115  # the callback closes it
                    request.add_finished_callback(lambda _, file=content: file.close())
                elif event and content:
                    content.write(event)
                elif segment:
                    yield segment, content


def _blocks(request: Request) -> Iterator[bytes]:
    request.body_file_raw.seek(0)  # a repeated attempt reads it again
    return iter(lambda: request.body_file_raw.read(BLOCK), b"")


def _value(segment: MultipartSegment, content: Any) -> str | UploadedFile:
    """Return a file as UploadedFile, and a short field as text. Raise UnicodeError for a text that is not UTF-8."""
    size = content.tell()
    if segment.filename is not None or size > TEXT_MAX:
        return UploadedFile(segment.filename or "", size, content)
    content.seek(0)
    text: str = content.read().decode()
    return text
