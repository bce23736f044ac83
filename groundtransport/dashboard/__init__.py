"""``/admin``: what there is, what is missing and what was done last; and one search over every kind."""

from datetime import UTC, datetime
from typing import Any

from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.view import view_config

from groundtransport.audit.views import entries, for_page
from groundtransport.dashboard import statistics
from groundtransport.dashboard.weekly_changes import last_weeks
from groundtransport.resources import Admin
from groundtransport.security import Permission

BUSIEST = 10  # airports
LATEST = 10  # entries


@view_config(
    context=Admin,
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:dashboard/templates/dashboard.jinja2",
)
def dashboard(context: Admin, request: Request) -> dict[str, Any]:
    dbsession, kinds = request.dbsession, list(request.registry["kinds"].values())
    return {
        "exact": statistics.EXACT,
        "cards": [
            {
                "kind": kind,
                "total": statistics.total(dbsession, kind),
                "statuses": statistics.statuses(dbsession, kind),
                "gaps": statistics.gaps(dbsession, kind),
                "may_create": bool(request.has_permission(Permission.CREATE, context[kind.name])),
            }
            for kind in kinds
        ],
        "airports": statistics.busiest(dbsession, kinds, BUSIEST),
        "weeks": last_weeks(dbsession, datetime.now(UTC).date()),
        "entries": for_page(request, entries(dbsession, 0, LATEST)),
    }


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.dashboard")
