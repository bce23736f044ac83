"""Pages that belong to no feature: home, health checks, about."""

from pyramid.httpexceptions import HTTPSeeOther, HTTPServiceUnavailable
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Admin, Root
from groundtransport.security import Permission
from groundtransport.web.readiness import ReadinessMonitor


@view_config(context=Root, request_method="GET", permission=NO_PERMISSION_REQUIRED)
def home(context: Root, request: Request) -> Response:
    """Redirect to the dashboard."""
    return HTTPSeeOther(request.application_url + "/admin")


@view_config(context=Root, name="healthz", request_method="GET", permission=NO_PERMISSION_REQUIRED)
def healthz(context: Root, request: Request) -> Response:
    """Return 200: the process answers. The database is not checked."""
    return Response("ok", content_type="text/plain", charset="utf-8")


@view_config(context=Root, name="readyz", request_method="GET", permission=NO_PERMISSION_REQUIRED)
def readyz(context: Root, request: Request) -> Response:
    """Return 200; raise HTTPServiceUnavailable if the process is ending or the database is not ready for it."""
    if request.registry.get("is_ending"):
        raise HTTPServiceUnavailable(_("The service is about to end."))
    monitor: ReadinessMonitor = request.registry["readiness_monitor"]
    readiness = monitor.current()
    if not readiness.is_ready:
        raise HTTPServiceUnavailable(readiness.text)
    return Response(readiness.text, content_type="text/plain", charset="utf-8")


@view_config(context=Admin, name="about", request_method="GET", permission=Permission.OWN_READ, renderer="about.jinja2")
def about(context: Admin, request: Request) -> dict[str, object]:
    """Render the page about the service and its data sources."""
    return {}
