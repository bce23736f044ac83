"""``/admin``: what there is, and what was done last."""

from typing import Any

from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.view import view_config
from sqlalchemy import func, select

from groundtransport.audit.views import entries
from groundtransport.records import listing
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
    kinds = request.registry["kinds"].values()
    return {
        "counts": [(kind, listing.count(request.dbsession, kind, listing.live(kind))) for kind in kinds],
        "airports": [(kind, busiest(request.dbsession, kind)) for kind in kinds],
        "entries": entries(request.dbsession, 0, LATEST),
        "titles": {kind.name: kind.title for kind in kinds},
    }


def busiest(dbsession: Any, kind: Any) -> list[Any]:
    """Return the airports with most records of a kind: name, code and number."""
    model, number = kind.model, func.count()
    wanted = select(model.airport_name, model.airport_code, number).where(listing.live(kind))
    grouped = wanted.group_by(model.airport_name, model.airport_code)
    return list(dbsession.execute(grouped.order_by(number.desc(), model.airport_name).limit(BUSIEST)))


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.dashboard")
