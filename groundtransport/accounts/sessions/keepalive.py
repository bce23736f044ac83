"""``/admin/session``: the end of one's session, as JSON. A form's script asks for it before it submits."""

from urllib.parse import quote

from pyramid.csrf import get_csrf_token
from pyramid.view import view_config, view_defaults

from groundtransport.request import Request
from groundtransport.resources import Session
from groundtransport.security import Permission


@view_defaults(context=Session, renderer="json")
class Keepalive:
    """The remaining time of the session, for scripts."""

    def __init__(self, context: Session, request: Request) -> None:
        self.request = request

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> dict[str, object]:
        """Return the CSRF token and the end of the session, without postponing it."""
        self.request.session.keep_idle_end()
        return self._answer()

    @view_config(request_method="POST", permission=Permission.OWN)
    def stay(self) -> dict[str, object]:
        """Postpone the idle end, and return the same."""
        self.request.session.changed()
        return self._answer()

    def _answer(self) -> dict[str, object]:
        self.request.response.headers["X-Signed-In-As"] = quote(self.request.user.name)
        return {
            "csrf_token": get_csrf_token(self.request),
            "expires_at": self.request.session.expires_at.isoformat(),
        }


@view_config(
    context=Session, name="again", request_method="GET", permission=Permission.OWN_READ, renderer="again.jinja2"
)
def again(context: Session, request: Request) -> dict[str, object]:
    """Show the page after a sign-in that was made in a new tab, for a form in another one."""
    return {}
