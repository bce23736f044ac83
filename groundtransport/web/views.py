"""Pages that belong to no feature: home, health checks, about."""

from pyramid.httpexceptions import HTTPSeeOther, HTTPServiceUnavailable
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config

from groundtransport.db import compatibility, sqlite
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Admin, Root
from groundtransport.security import Permission


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
    if request.registry["settings"].is_sqlite and not sqlite.is_sound(request.registry["engine"]):
        raise HTTPServiceUnavailable(_("The database file is damaged: bring back a backup."))
    if request.is_leader_away:
        return _ready_to_read(request)
    state, schema = compatibility.state_of(request.registry["engine"]), request.registry["schema"]
    if reason := compatibility.why_not_ready(state, schema):
        raise HTTPServiceUnavailable(reason)
    if not schema.unknown(state.current):  # a newer release has changed what these compare
        for reason in filter(None, (why() for why in request.registry["readiness"])):
            raise HTTPServiceUnavailable(reason)
    return Response("ready", content_type="text/plain", charset="utf-8")


def _ready_to_read(request: Request) -> Response:
    """Return 200 without the leader if the replica has our schema: the process can show pages, and cannot save."""
    state = compatibility.state_of(request.dbsession.get_bind().engine)
    if reason := compatibility.why_incompatible(state, request.registry["schema"]):
        raise HTTPServiceUnavailable(reason)
    return Response("ready to read", content_type="text/plain", charset="utf-8")


@view_config(context=Admin, name="about", request_method="GET", permission=Permission.OWN_READ, renderer="about.jinja2")
def about(context: Admin, request: Request) -> dict[str, object]:
    """Render the page about the service and its data sources."""
    return {}
