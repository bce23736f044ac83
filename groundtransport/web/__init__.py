"""Parts shared by all pages: tweens, URLs, error pages, layout, and the check that each view names a permission."""

from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationError


def require_permission(view: Any, info: Any) -> Any:
    """Check a view at start-up (a view deriver). Raise ConfigurationError if it names no permission."""
    if not info.exception_only and info.options.get("permission") is None:
        raise ConfigurationError(f"{info.original_view} has no permission: name one, or NO_PERMISSION_REQUIRED")
    return view


require_permission.options = ()  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def accept_multipart(view: Any, info: Any) -> Any:
    """Register the view option ``accept_multipart`` (a view deriver): the path where the view reads a multipart form.

    The tween ``login_required`` needs it before traversal, so it is a path such as ``/admin/*/import``, where ``*``
    matches any single segment. Multipart forms at all other paths get a 415.
    """
    path = info.options.get("accept_multipart")
    if path:
        info.registry["multipart_paths"].add(tuple(path.strip("/").split("/")))
    return view


accept_multipart.options = ("accept_multipart",)  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def includeme(config: Configurator) -> None:
    config.add_settings({"jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true", "jinja2.undefined": "strict"})
    config.registry["readiness"] = []  # functions that return the reason for a 503 of /readyz, or None
    config.include("groundtransport.i18n")
    config.include("pyramid_jinja2")
    config.add_jinja2_search_path("groundtransport:web/templates")
    config.add_view_deriver(require_permission)
    config.registry["multipart_paths"] = set()
    config.add_view_deriver(accept_multipart)
    config.include("groundtransport.web.static")
    config.set_request_factory("groundtransport.web.request.MemoryRequest")
    config.add_request_method("groundtransport.web.urls.context_path")
    config.add_view_predicate("ajax", "groundtransport.web.predicates.Ajax")
    config.add_subscriber("groundtransport.web.layout.add_globals", "pyramid.events.BeforeRender")
    config.scan("groundtransport.web")
