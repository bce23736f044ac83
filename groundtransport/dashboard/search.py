"""``/admin/search?q=``: one search over every kind; each part leads on to the list with the same search."""

from typing import Any

from pyramid.request import Request
from pyramid.view import view_config

from groundtransport.i18n import _
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list import pages
from groundtransport.records.list.columns import too_long
from groundtransport.records.list.query import ListQuery, only_once
from groundtransport.records.urls import list_url, of_rows
from groundtransport.resources import Admin
from groundtransport.security import Permission

SHOWN = 10  # records of a kind


@view_config(
    context=Admin,
    name="search",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:dashboard/templates/search.jinja2",
)
def search(context: Admin, request: Request) -> dict[str, Any]:
    """The newest records of every kind that match; nothing is looked for where nothing was asked."""
    q = only_once(request.GET.dict_of_lists()).get("q", "").strip()
    if ListQuery(q=q).too_long:
        request.response.status_int = 422
        return {"q": q, "found": [], "refusal": too_long(request, _("Search"))}
    kinds = request.registry["kinds"].values() if q else ()
    return {"q": q, "found": [_found(context, request, kind, q) for kind in kinds], "refusal": ""}


def _found(context: Admin, request: Request, kind: Kind, q: str) -> dict[str, Any]:
    query = ListQuery(q=q, page_size=SHOWN)
    page = pages.page(request.dbsession, kind, query)
    collection: Any = context[kind.name]
    actions = of_rows(request, collection, query.state())
    for row in page.rows:
        row["label"] = label_of(kind, row, row["id"])
        row["aside"] = _aside(kind, row)
        row["actions"] = actions(row["id"])
        row["open"] = list_url(request, kind, query.state() + f"&view={row['id']}")
    return {"kind": kind, "page": page, "all": list_url(request, kind, query.state())}


def _aside(kind: Kind, row: dict[str, Any]) -> list[str]:
    """Return what else tells a record: what its list shows, then its place and its phone."""
    last = [name for name in (kind.place, kind.phone) if name]
    apart = {"airport_name", kind.label, *last}
    names = [name for name in kind.columns if name not in apart and not kind.fields[name].filter_control]
    return [kind.fields[name].shown(row[name]) for name in (*names, *last) if row[name] is not None]
