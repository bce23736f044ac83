"""The URL of a saved view."""

from groundtransport.accounts.saved_views.models import SavedView
from groundtransport.records.kind import Kind
from groundtransport.records.list import query as queries
from groundtransport.records.urls import list_url
from groundtransport.request import Request


def view_url(request: Request, kind: Kind, view: SavedView) -> str:
    """Return the URL of the list that a view shows; what the kind no longer has is left out."""
    query = queries.query_from_state(kind, view.state, queries.default_page_size(request))
    return list_url(request, kind, query.state())
