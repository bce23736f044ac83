"""``/admin/search?q=``: the search over all kinds, with links to each kind's list."""

from dataclasses import dataclass
from typing import Any

from pyramid.view import view_config

from groundtransport.events import Value
from groundtransport.i18n import _
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list import pages
from groundtransport.records.list.columns import too_long
from groundtransport.records.list.query import ListQuery, single_values
from groundtransport.records.urls import list_url, of_rows
from groundtransport.request import Request
from groundtransport.resources import Admin
from groundtransport.security import Permission

SHOWN = 10  # records of a kind


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching record. ``url`` opens it in its list; ``edit_url`` is "" without the permission."""

    label: str
    details: list[str]
    airport_name: str
    url: str
    edit_url: str


@dataclass(frozen=True, slots=True)
class KindResult:
    """The matching records of a kind. ``url`` is its list with the same search."""

    kind: Kind
    page: object
    hits: list[Hit]
    url: str


@view_config(
    context=Admin,
    name="search",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="groundtransport:dashboard/templates/search.jinja2",
)
def search(context: Admin, request: Request) -> dict[str, object]:
    """Show the newest matching records of each kind; none if ``q`` is empty."""
    q = single_values(request.GET.dict_of_lists()).get("q", "").strip()
    if ListQuery(q=q).too_long:
        request.response.status_int = 422
        return {"q": q, "results": [], "refusal": too_long(request, _("Search"))}
    kinds = request.registry["kinds"].values() if q else ()
    return {"q": q, "results": [_search(context, request, kind, q) for kind in kinds], "refusal": ""}


def _search(context: Admin, request: Request, kind: Kind, q: str) -> KindResult:
    query = ListQuery(q=q, page_size=SHOWN)
    page = pages.page(request.dbsession, kind, query)
    collection: Any = context[kind.name]
    urls = of_rows(request, collection, query.state())
    hits = [
        Hit(
            label=label_of(kind, row, row["id"]),
            details=_details(kind, row),
            airport_name=row["airport_name"],
            url=list_url(request, kind, query.state() + f"&view={row['id']}"),
            edit_url=urls(row["id"]).get("edit", ""),
        )
        for row in page.rows
    ]
    return KindResult(kind, page, hits, list_url(request, kind, query.state()))


def _details(kind: Kind, row: dict[str, Value]) -> list[str]:
    """Return the values that identify a record besides its label: the list's columns, its place and its phone."""
    last = [name for name in (kind.place, kind.phone) if name]
    apart = {"airport_name", kind.label, *last}
    names = [name for name in kind.columns if name not in apart and not kind.fields[name].filter_control]
    return [kind.fields[name].shown(row[name]) for name in (*names, *last) if row[name] is not None]
