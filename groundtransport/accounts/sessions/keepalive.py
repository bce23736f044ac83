"""``/admin/session``: how long one is signed in. A form's script asks before it sends what was typed."""

from typing import Any
from urllib.parse import quote

from pyramid.csrf import get_csrf_token
from pyramid.request import Request
from pyramid.view import view_config, view_defaults

from groundtransport.resources import Session
from groundtransport.security import Permission


@view_defaults(context=Session, renderer="json")
class Presence:
    def __init__(self, context: Session, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> dict[str, Any]:
        """Answer with the CSRF token and the end of the session, and who is signed in; it puts off no end."""
        self.request.session.watch()
        return self._answer()

    @view_config(request_method="POST", permission=Permission.OWN)
    def stay(self) -> dict[str, Any]:
        """Put off the idle end, and answer the same."""
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
    """The page after a sign-in that was made for a form in another tab."""
    return {}
