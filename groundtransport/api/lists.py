"""``GET /api/v1/<kind>``: the list of a kind."""

from groundtransport.api.listing import list_page, read_list
from groundtransport.api.parameters import with_link
from groundtransport.api.view import Operation, api_view
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission


@api_view(
    Operation("{kind}-page", parameters=("{list}", "limit", "cursor")),
    context=Collection,
    request_method="GET",
    permission=Permission.VIEW,
)
def show(context: Collection, request: Request) -> dict[str, object]:
    """List and search records, with the parameters of the list of the pages."""
    return with_link(request, list_page(request, context.kind, read_list(request, context.kind)))
