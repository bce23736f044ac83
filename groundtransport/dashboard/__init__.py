"""``/admin``: the dashboard with statistics and the latest activity, and the search over all kinds."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.view import view_config

from groundtransport.dashboard import statistics
from groundtransport.dashboard.latest import latest_entries
from groundtransport.dashboard.weekly_changes import last_weeks
from groundtransport.records.kind import Kind
from groundtransport.resources import Admin
from groundtransport.security import Permission

BUSIEST = 10  # airports
LATEST = 10  # entries


@dataclass(frozen=True, slots=True)
class Card:
    """The statistics of a kind."""

    kind: Kind
    total: int
    statuses: list[statistics.Status]
    gaps: list[statistics.Gap]
    may_create: bool


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
        "cards": [_card(context, request, kind) for kind in kinds],
        "airports": statistics.busiest(dbsession, kinds, BUSIEST),
        "weeks": last_weeks(dbsession, datetime.now(UTC).date()),
        "entries": latest_entries(request, LATEST),
    }


def _card(context: Admin, request: Request, kind: Kind) -> Card:
    return Card(
        kind,
        total=statistics.total(request.dbsession, kind),
        statuses=statistics.statuses(request.dbsession, kind),
        gaps=statistics.gaps(request.dbsession, kind),
        may_create=bool(request.has_permission(Permission.CREATE, context[kind.name])),
    )


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.dashboard")
