"""Request parser with limits that waitress does not have."""

import re
import secrets
import time

import orjson
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import Error, RequestEntityTooLarge

from groundtransport.settings import ANONYMOUS_BODY_LIMIT, LARGE_BODY

WHITESPACE_RUN = re.compile(rb"[ \t\r\n]{100}")  # longer than any in a legitimate request
CONTENT_LENGTH = re.compile(rb"^Content-Length[ \t]*:", re.IGNORECASE | re.MULTILINE)
API_LINE = re.compile(rb"\s*\S+ /api/")  # a request line, which may not be valid
UPLOAD_PATH = re.compile(r"/admin/[^/?]+/import/?", re.ASCII)
TRANSFER_ENCODING = re.compile(rb"^Transfer-Encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)


class Problem(Error):
    """An error of the API that is found before the application is called, as problem details (RFC 9457)."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.body)
        self.code, self.reason = error.code, error.reason

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return the status line, the headers and the body."""
        request_id = secrets.token_hex(8)
        document = {"type": "about:blank", "title": self.reason, "status": self.code, "detail": self.body}
        headers = [("Content-Type", "application/problem+json"), ("X-Request-Id", request_id)]
        body = orjson.dumps({**document, "instance": f"urn:request:{request_id}"})
        return f"{self.code} {self.reason}", headers, body


class Parser(HTTPRequestParser):
    """Parser that rejects requests which are slow to parse, or which a proxy may parse differently."""

    error: object = None
    path = ""  # until the request line is parsed
    arrived = 0.0  # time.monotonic() when the request was complete

    def received(self, data: bytes) -> int:
        """Parse received bytes and return how many were consumed.

        Chunked bodies are limited to ANONYMOUS_BODY_LIMIT bytes, because waitress takes a second of CPU time for a
        million small chunks, and time quadratic in the length of a chunk header. Browsers and the supported proxies do
        not send chunked bodies. Other bodies are limited to LARGE_BODY, except for the upload of a file.
        """
        start = self.header_plus + data[:1_000]
        consumed: int = super().received(data)
        if self.chunked and self.body_bytes_received > ANONYMOUS_BODY_LIMIT and self.error is None:
            self.error = RequestEntityTooLarge(f"a body in chunks has at most {ANONYMOUS_BODY_LIMIT} bytes")
            self.completed = True
        elif self.content_length > LARGE_BODY and not self.completed and not self.is_upload:
            self.error = RequestEntityTooLarge(f"a body has at most {LARGE_BODY} bytes")
            self.completed = True
        if isinstance(self.error, Error) and (self.path.startswith("/api/") or API_LINE.match(start)):
            self.error = Problem(self.error)
        if self.completed:
            self.arrived = time.monotonic()
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the request line and the headers; raise ParsingError for a 400 that closes the connection.

        Content-Length together with Transfer-Encoding allows request smuggling past a proxy (RFC 9112, 6.1 and 11.2).
        """
        if WHITESPACE_RUN.search(header_plus):  # waitress' pattern takes time quadratic in the length of the run
            raise ParsingError("Too many blanks")
        if TRANSFER_ENCODING.search(header_plus) and CONTENT_LENGTH.search(header_plus):
            raise ParsingError("Content-Length beside Transfer-Encoding")
        try:
            super().parse_header(header_plus)
        except ValueError:  # int() accepts at most 4,300 digits
            raise ParsingError("Content-Length is invalid") from None
        if "TRANSFER_ENCODING" in self.headers:  # waitress removes the header from HTTP/1.1 requests only
            raise ParsingError("Transfer-Encoding before HTTP/1.1")

    @property
    def is_upload(self) -> bool:
        """Return True for the upload of a file by a browser that has a session, as far as the headers tell."""
        return bool(UPLOAD_PATH.fullmatch(self.path)) and "groundtransport=" in self.headers.get("COOKIE", "")
