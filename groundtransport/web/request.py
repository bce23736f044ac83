"""The request: Pyramid's, with its body in memory, and without cookies that are no text.

The guard has refused a body that is too large for that.
"""

from typing import Any

from pyramid.request import Request


class MemoryRequest(Request):
    # WebOb's limit is 10 KiB; beyond it, a temporary file stays open until the garbage is collected.
    request_body_tempfile_limit = 1 << 40

    def __init__(self, environ: dict[str, Any], **values: Any) -> None:
        super().__init__(environ, **values)
        sent = environ.get("HTTP_COOKIE", "")
        if not is_plain(sent):
            environ["HTTP_COOKIE"] = ";".join(filter(is_plain, sent.split(";")))


def is_plain(cookies: str) -> bool:
    """Whether all is ASCII, without escapes. Ours are; beside one that is not UTF-8, WebOb could not read them."""
    return cookies.isascii() and "\\" not in cookies
