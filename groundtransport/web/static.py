"""Static files: cached by browsers for a year under a URL with a content hash, and compressed.

Pages are not compressed: compression would reveal the secrets in them, such as the CSRF token (BREACH attack).
"""

import gzip
import hashlib
from functools import lru_cache
from pathlib import Path

from pyramid.config import Configurator
from pyramid.events import NewResponse
from pyramid.static import QueryStringCacheBuster

from groundtransport.request import Request

FOLDER = Path(__file__).parent.parent / "static"
MAX_AGE = 365 * 24 * 60 * 60  # seconds
COMPRESSIBLE = ("text/css", "text/javascript", "application/javascript", "image/svg+xml")
MAX_FILES = 128  # in each memory cache; a changed file counts again


class ContentHash(QueryStringCacheBuster):
    """Cache buster that adds a hash of the file's content to its URL."""

    def tokenize(self, request: Request, pathspec: str, kw: object) -> str:
        """Return the hash; ``pathspec`` is relative to FOLDER."""
        file = FOLDER / pathspec
        return _content_hash(file, file.stat().st_mtime_ns)


@lru_cache(MAX_FILES)
def _content_hash(file: Path, modified_at: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def asset_path(request: Request, path: str) -> str:
    """Return the URL path of a static file, with its content hash; ``path`` is relative to FOLDER."""
    url_path: str = request.static_path(f"groundtransport:static/{path}")
    return url_path


@lru_cache(MAX_FILES)
def _compressed(file: Path, modified_at: int) -> bytes:
    return gzip.compress(file.read_bytes(), 9, mtime=0)


def compress(event: NewResponse) -> None:
    """Compress the response of a static text file if the client accepts gzip, and let browsers cache it."""
    request, response = event.request, event.response
    # request.path_info raises UnicodeDecodeError for a path that is not UTF-8.
    if not request.environ.get("PATH_INFO", "").startswith("/static/") or response.content_type not in COMPRESSIBLE:
        return
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}, immutable"
    response.vary = "Accept-Encoding"
    file = FOLDER.joinpath(*request.subpath)
    is_accepted = request.accept_encoding and request.accept_encoding.acceptable_offers(["gzip"])
    if response.status_int == 200 and is_accepted:
        response.app_iter.close()
        response.body = _compressed(file, file.stat().st_mtime_ns)
        response.content_encoding = "gzip"


def includeme(config: Configurator) -> None:
    config.add_static_view("static", "groundtransport:static", cache_max_age=MAX_AGE)
    config.add_cache_buster("groundtransport:static", ContentHash())
    config.add_subscriber(compress, NewResponse)
