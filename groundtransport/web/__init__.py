"""What every page shares: outer tweens, addresses, error pages, layout, and that a view names its permission."""

from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationError


def require_permission(view: Any, info: Any) -> Any:
    """A view deriver: a view that names no permission stops the start."""
    if not info.exception_only and info.options.get("permission") is None:
        raise ConfigurationError(f"{info.original_view} has no permission: name one, or NO_PERMISSION_REQUIRED")
    return view


require_permission.options = ()  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def includeme(config: Configurator) -> None:
    config.add_settings({"jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true", "jinja2.undefined": "strict"})
    config.include("groundtransport.i18n")
    config.include("pyramid_jinja2")
    config.add_jinja2_search_path("groundtransport:web/templates")
    config.add_view_deriver(require_permission)
    config.include("groundtransport.web.static")
    config.set_request_factory("groundtransport.web.request.MemoryRequest")
    config.add_request_method("groundtransport.web.urls.context_path")
    config.add_view_predicate("ajax", "groundtransport.web.predicates.Ajax")
    config.add_subscriber("groundtransport.web.layout.add_globals", "pyramid.events.BeforeRender")
    config.scan("groundtransport.web")
