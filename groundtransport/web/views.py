"""The pages that belong to no feature: home, health, about."""

from pyramid.httpexceptions import HTTPSeeOther, HTTPServiceUnavailable
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config

from groundtransport.db import migrations
from groundtransport.i18n import _
from groundtransport.resources import Admin, Root
from groundtransport.security import Permission


@view_config(context=Root, request_method="GET", permission=NO_PERMISSION_REQUIRED)
def home(context: Root, request: Request) -> Response:
    return HTTPSeeOther(request.application_url + "/admin")


@view_config(context=Root, name="healthz", request_method="GET", permission=NO_PERMISSION_REQUIRED)
def healthz(context: Root, request: Request) -> Response:
    """The process is up."""
    return Response("ok", content_type="text/plain", charset="utf-8")


@view_config(context=Root, name="readyz", request_method="GET", permission=NO_PERMISSION_REQUIRED)
def readyz(context: Root, request: Request) -> Response:
    """The database can be reached and is migrated; else 503."""
    current = migrations.current(request.registry["engine"])
    if current != request.registry["migration"]:
        raise HTTPServiceUnavailable(_("The database is not migrated: run groundtransport init."))
    return Response("ready", content_type="text/plain", charset="utf-8")


@view_config(context=Admin, name="about", request_method="GET", permission=Permission.OWN_READ, renderer="about.jinja2")
def about(context: Admin, request: Request) -> dict[str, object]:
    return {}
