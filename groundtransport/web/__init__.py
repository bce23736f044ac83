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


def accept_multipart(view: Any, info: Any) -> Any:
    """A view deriver: the option ``accept_multipart`` names the URL at which the view reads a form with files.

    The gate must know before the form is parsed, and traversal comes later: so it is a path, as ``/admin/*/import``,
    where ``*`` stands for any one segment. Everywhere else such a form is refused with 415.
    """
    path = info.options.get("accept_multipart")
    if path:
        info.registry["multipart_paths"].add(tuple(path.strip("/").split("/")))
    return view


accept_multipart.options = ("accept_multipart",)  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def includeme(config: Configurator) -> None:
    config.add_settings({"jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true", "jinja2.undefined": "strict"})
    config.registry["readiness"] = []  # functions that say why /readyz must answer 503, or nothing
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
