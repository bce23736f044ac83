"""``/admin``: the dashboard with statistics and the latest activity, and the search over all kinds."""

from dataclasses import dataclass
from datetime import UTC, datetime

from pyramid.config import Configurator
from pyramid.view import view_config

from groundtransport.accounts.saved_views.store import visible
from groundtransport.dashboard import statistics
from groundtransport.dashboard.latest import latest_entries
from groundtransport.dashboard.status_numbers import Status, statuses
from groundtransport.dashboard.weekly_changes import last_weeks
from groundtransport.records.duplicates import pair_list
from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import due_days
from groundtransport.records.saved_views.urls import view_url
from groundtransport.request import Request
from groundtransport.resources import Admin
from groundtransport.security import Permission
from groundtransport.webhooks.subscriptions import switched_off

BUSIEST = 10  # airports
LATEST = 10  # entries


@dataclass(frozen=True, slots=True)
class Card:
    """The statistics of a kind."""

    kind: Kind
    total: int
    statuses: list[Status]
    gaps: list[statistics.Gap]
    links: list[statistics.LinkProblem]
    other_places: int  # records, at most one more than ``statistics.EXACT``
    doubles: int  # pairs, the same
    verification: statistics.Verification
    may_review: bool
    may_create: bool


@view_config(
    context=Admin,
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:dashboard/templates/dashboard.jinja2",
)
def dashboard(context: Admin, request: Request) -> dict[str, object]:
    """Render the statistics, the saved views, the latest activity and the chart of changes."""
    dbsession, by_name = request.dbsession, request.registry["kinds"]
    kinds = list(by_name.values())
    views = visible(dbsession, request.user.user_id, *by_name)
    return {
        "exact": statistics.EXACT,
        "cards": [_card(context, request, kind) for kind in kinds],
        "airports": statistics.busiest(dbsession, kinds, BUSIEST),
        "weeks": last_weeks(dbsession, datetime.now(UTC).date()),
        "views": [(view, by_name[view.kind], view_url(request, by_name[view.kind], view)) for view in views],
        "off": switched_off(dbsession) if request.has_permission(Permission.WEBHOOKS_READ, context) else [],
        "entries": latest_entries(request, LATEST),
    }


def _card(context: Admin, request: Request, kind: Kind) -> Card:
    return Card(
        kind,
        total=statistics.total(request.dbsession, kind),
        statuses=statuses(request.dbsession, kind),
        gaps=statistics.gaps(request.dbsession, kind),
        links=statistics.link_problems(request.dbsession, kind),
        other_places=statistics.other_places(request.dbsession, kind),
        doubles=pair_list.count(request.dbsession, kind, PairQuery()),
        verification=statistics.verification(request.dbsession, kind, due_days(request, kind)),
        may_review=bool(request.has_permission(Permission.EDIT, context[kind.name])),
        may_create=bool(request.has_permission(Permission.CREATE, context[kind.name])),
    )


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.dashboard")
