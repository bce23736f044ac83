"""Parts shared by all pages: tweens, URLs, error pages, layout, and the check that each view names a permission."""

from functools import partial

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationError
from pyramid.interfaces import IViewDeriverInfo

from groundtransport.db import deadline
from groundtransport.request import Request, View
from groundtransport.web.readiness import ReadinessMonitor, check_readiness


def require_permission(view: View, info: IViewDeriverInfo) -> View:
    """Check a view at start-up (a view deriver). Raise ConfigurationError if it names no permission."""
    if not info.exception_only and info.options.get("permission") is None:
        raise ConfigurationError(f"{info.original_view} has no permission: name one, or NO_PERMISSION_REQUIRED")
    return view


require_permission.options = ()  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def accept_multipart(view: View, info: IViewDeriverInfo) -> View:
    """Register the view option ``accept_multipart`` (a view deriver): the path where the view reads a multipart form.

    The tween ``login_required`` needs it before traversal, so it is a path such as ``/admin/*/import``, where ``*``
    matches any single segment. Multipart forms at all other paths get a 415.
    """
    path = info.options.get("accept_multipart")
    if path:
        info.registry["multipart_paths"].add(tuple(path.strip("/").split("/")))
    return view


accept_multipart.options = ("accept_multipart",)  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def accept_upload(view: View, info: IViewDeriverInfo) -> View:
    """Register the view option ``accept_upload`` (a view deriver): a path as of ``accept_multipart``, for large files.

    The form is parsed in blocks (web/upload.py), up to ``import_size`` bytes.
    """
    path = info.options.get("accept_upload")
    if path:
        info.registry["upload_paths"].add(tuple(path.strip("/").split("/")))
    return view


accept_upload.options = ("accept_upload",)  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def time_budget(view: View, info: IViewDeriverInfo) -> View:
    """Register the view option ``time_budget`` (a view deriver): seconds that a request may wait for the database.

    They count from the beginning of the request. Without the option they are ``settings.request_budget``.
    """
    seconds = info.options.get("time_budget")
    if seconds is None:
        return view

    def extend(context: object, request: Request) -> object:
        deadline.extend(request.began + seconds)  # until the end of the request, so that it covers the commit
        return view(context, request)

    return extend


time_budget.options = ("time_budget",)  # type: ignore[attr-defined]  # Pyramid's protocol for derivers


def includeme(config: Configurator) -> None:
    config.add_settings({"jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true", "jinja2.undefined": "strict"})
    config.registry["readiness_monitor"] = ReadinessMonitor(partial(check_readiness, config.registry))
    config.include("groundtransport.i18n")
    config.include("pyramid_jinja2")
    config.add_jinja2_search_path("groundtransport:web/templates")
    config.add_view_deriver(require_permission)
    config.registry["multipart_paths"] = set()
    config.add_view_deriver(accept_multipart)
    config.registry["upload_paths"] = set()
    config.add_view_deriver(accept_upload)
    config.add_view_deriver(time_budget)
    config.include("groundtransport.web.static")
    config.set_request_factory("groundtransport.request.Request")
    config.add_request_method("groundtransport.web.urls.context_path")
    config.add_view_predicate("ajax", "groundtransport.web.predicates.Ajax")
    config.add_view_predicate("html", "groundtransport.web.predicates.PrefersHtml")
    config.add_subscriber("groundtransport.web.layout.add_globals", "pyramid.events.BeforeRender")
    config.scan("groundtransport.web")
