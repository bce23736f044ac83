"""Static files: kept by browsers for good under the hash of their content, and sent compressed.

A page is not compressed here: beside a secret (the CSRF token) that would tell it, letter by letter (BREACH).
"""

import gzip
import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyramid.config import Configurator
from pyramid.events import NewResponse
from pyramid.static import QueryStringCacheBuster

FOLDER = Path(__file__).parent.parent / "static"
FOREVER = 365 * 24 * 60 * 60  # seconds; RFC 9111 and its peers know no longer time
TEXTS = ("text/css", "text/javascript", "application/javascript", "image/svg+xml")
FILES = 128  # kept in memory, each once for every time it was changed


class ContentHash(QueryStringCacheBuster):
    """Static addresses carry a hash of the file."""

    def tokenize(self, request: Any, pathspec: str, kw: Any) -> str:
        file = FOLDER / pathspec  # relative to the folder, in spite of its name
        return _content_hash(file, file.stat().st_mtime_ns)


@lru_cache(FILES)
def _content_hash(file: Path, changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def asset_path(request: Any, path: str) -> str:
    """Return the address of a static file. It is kept for every time the file was changed: a page has many of them."""
    known: dict[Any, str] = request.registry["asset_paths"]
    key = request.script_name, path, os.stat(f"{FOLDER}/{path}").st_mtime_ns  # noqa: PTH116  # a Path takes ten times as long
    if key not in known:
        known[key] = request.static_path(f"groundtransport:static/{path}")
    return known[key]


@lru_cache(FILES)
def _compressed(file: Path, changed: int) -> bytes:
    return gzip.compress(file.read_bytes(), 9, mtime=0)


def compress(event: NewResponse) -> None:
    """Send a static text compressed to whoever accepts that, which every browser does."""
    request, response = event.request, event.response
    # Not request.path_info: a path that is no text raises there.
    if not request.environ.get("PATH_INFO", "").startswith("/static/") or response.content_type not in TEXTS:
        return
    response.headers["Cache-Control"] = f"public, max-age={FOREVER}, immutable"
    response.vary = "Accept-Encoding"
    file = FOLDER.joinpath(*request.subpath)
    is_accepted = request.accept_encoding and request.accept_encoding.acceptable_offers(["gzip"])
    if response.status_int == 200 and is_accepted:
        response.app_iter.close()
        response.body = _compressed(file, file.stat().st_mtime_ns)
        response.content_encoding = "gzip"


def includeme(config: Configurator) -> None:
    config.registry["asset_paths"] = {}
    config.add_static_view("static", "groundtransport:static", cache_max_age=FOREVER)
    config.add_cache_buster("groundtransport:static", ContentHash())
    config.add_subscriber(compress, NewResponse)
