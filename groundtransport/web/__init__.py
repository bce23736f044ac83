"""What every page shares: outer tweens, addresses, error pages, layout, and that a view names its permission."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationError
from pyramid.static import QueryStringCacheBuster
from pyramid.tweens import INGRESS

DB, TM = "groundtransport.db.tween", "pyramid_tm.tm_tween_factory"
STATIC = Path(__file__).parent.parent / "static"
A_YEAR = 365 * 24 * 60 * 60  # seconds


def require_permission(view: Any, info: Any) -> Any:
    """A view deriver: a view that names no permission stops the start."""
    if not info.exception_only and info.options.get("permission") is None:
        raise ConfigurationError(f"{info.original_view} has no permission: name one, or NO_PERMISSION_REQUIRED")
    return view


require_permission.options = ()  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


class ContentHash(QueryStringCacheBuster):
    """Static addresses carry a hash of the file, so that browsers may keep them for good."""

    def tokenize(self, request: Any, pathspec: str, kw: Any) -> str:
        return _content_hash(pathspec)  # relative to the folder, in spite of its name


@cache
def _content_hash(path: str) -> str:
    return hashlib.sha256((STATIC / path).read_bytes()).hexdigest()[:16]


def includeme(config: Configurator) -> None:
    config.add_settings({"jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true", "jinja2.undefined": "strict"})
    config.include("pyramid_jinja2")
    config.add_jinja2_search_path("groundtransport:web/templates")
    config.add_view_deriver(require_permission)
    config.add_static_view("static", "groundtransport:static", cache_max_age=A_YEAR)
    config.add_cache_buster("groundtransport:static", ContentHash())
    config.set_request_factory("groundtransport.web.request.MemoryRequest")
    # From the outside in: guard > sessions (accounts) > gate > method override > transaction > views.
    config.add_tween("groundtransport.web.guard.tween", under=INGRESS, over=[DB, TM])
    config.add_tween("groundtransport.web.gate.tween", under="groundtransport.web.guard.tween", over=[DB, TM])
    config.add_tween("groundtransport.web.method.tween", under="groundtransport.web.gate.tween", over=[DB, TM])
    config.add_request_method("groundtransport.web.links.address")
    config.add_view_predicate("ajax", "groundtransport.web.predicates.Ajax")
    config.add_subscriber("groundtransport.web.layout.add_globals", "pyramid.events.BeforeRender")
    config.scan("groundtransport.web")
