"""What the templates know besides a view's own values: the person, the kinds, the static files."""

from typing import Any

from pyramid.events import BeforeRender

from groundtransport.web.links import segments


def add_globals(event: BeforeRender) -> None:
    """Add what the layout needs. It must not query: an error page is rendered when the database is away, too."""
    request: Any = event.get("request")
    if request is None:
        return
    event["here"] = "/" + "/".join(segments(request))
    event["identity"] = request.session.known_identity
    event["kinds"] = list(request.registry["kinds"].values())
    event["asset"] = lambda path: request.static_path(f"groundtransport:static/{path}")
