"""``/admin/help``: the guide of ``docs/guide`` in the reader's language."""

from pyramid.config import Configurator
from pyramid.view import view_config

from groundtransport.help.guide import sections
from groundtransport.request import Request
from groundtransport.resources import Admin
from groundtransport.security import Permission


@view_config(
    context=Admin,
    name="help",
    request_method="GET",
    permission=Permission.OWN_READ,
    renderer="groundtransport:help/templates/help.jinja2",
)
def help_page(context: Admin, request: Request) -> dict[str, object]:
    """Render all sections of the guide on one page."""
    return {"sections": sections(request)}


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.help")
