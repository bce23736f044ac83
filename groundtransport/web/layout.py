"""What the templates know besides a view's own values: the person, the kinds, the static files."""

from functools import partial
from typing import Any

from pyramid.events import BeforeRender

from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.security import Role
from groundtransport.web import static
from groundtransport.web.urls import page_url, segments

DATA = {"json", "rows"}  # renderers without a template
ROLES = {Role.VIEWER: _("viewer"), Role.EDITOR: _("editor"), Role.ADMINISTRATOR: _("administrator")}


def add_globals(event: BeforeRender) -> None:
    """Add what the layout needs. It must not query: an error page is rendered when the database is away, too."""
    request: Any = event.get("request")
    if request is None or event["renderer_name"] in DATA:
        return
    event["here"] = "/" + "/".join(segments(request))
    event["page_url"] = page_url(request)
    event["identity"] = request.session.known_identity
    expires_at = request.session.expires_at
    event["signed_in_for"] = int((expires_at - now()).total_seconds()) if expires_at else 0
    event["kinds"] = list(request.registry["kinds"].values())
    event["role_words"] = ROLES
    event["language"] = request.locale_name
    event["asset"] = partial(static.asset_path, request)
