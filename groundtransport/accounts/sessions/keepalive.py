"""``/admin/session``: the end of one's session, as JSON. A form's script asks for it before it submits."""

from typing import Any
from urllib.parse import quote

from pyramid.csrf import get_csrf_token
from pyramid.request import Request
from pyramid.view import view_config, view_defaults

from groundtransport.resources import Session
from groundtransport.security import Permission


@view_defaults(context=Session, renderer="json")
class Keepalive:
    def __init__(self, context: Session, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> dict[str, Any]:
        """Return the CSRF token and the end of the session, without postponing it."""
        self.request.session.watch()
        return self._answer()

    @view_config(request_method="POST", permission=Permission.OWN)
    def stay(self) -> dict[str, Any]:
        """Postpone the idle end, and return the same."""
        self.request.session.changed()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        self.request.response.headers["X-Signed-In-As"] = quote(self.request.identity.name)
        return {
            "csrf_token": get_csrf_token(self.request),
            "expires_at": self.request.session.expires_at.isoformat(),
        }


@view_config(
    context=Session, name="again", request_method="GET", permission=Permission.OWN_READ, renderer="again.jinja2"
)
def again(context: Session, request: Request) -> dict[str, Any]:
    """Show the page after a sign-in that was made in a new tab, for a form in another one."""
    return {}
