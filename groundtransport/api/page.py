"""``/admin/api``: the page that shows the OpenAPI document and tries its operations."""

from pyramid.view import view_config

from groundtransport.request import Request
from groundtransport.resources import Admin
from groundtransport.security import Permission


@view_config(
    context=Admin,
    name="api",
    request_method="GET",
    permission=Permission.OWN_READ,
    renderer="groundtransport:api/templates/api.jinja2",
)
def page(context: Admin, request: Request) -> dict[str, object]:
    """Render the page. The browser loads the document."""
    return {}
