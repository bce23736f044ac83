"""The pages of API tokens: a person's own below ``/admin/profile``, those of others below ``/admin/users/<name>``.

A token is shown in the response to the POST that created it, as a one-time password is: a redirect would have to store
it.
"""

from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import secondfactor
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.profile.views import own_account
from groundtransport.accounts.sign_in import reauth
from groundtransport.accounts.tokens import issuing
from groundtransport.accounts.tokens.models import TOKEN_NAME_MAX
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Profile, User
from groundtransport.security import Permission, Role
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import submitted, submitted_id

TEMPLATES = "groundtransport:accounts/templates"
FIELDS = ("name", "role", "read_only", "days", "networks", "current", "code")


class TokenViews:
    """What the pages of one's own tokens and of others' tokens share."""

    is_own = False

    def __init__(self, context: Any, request: Request) -> None:
        self.context, self.request = context, request
        self.titles = {name: kind.plural for name, kind in request.registry["kinds"].items()}

    @property
    def user(self) -> AdminUser:
        """The user whose tokens the page shows. Each page overrides it; this one raises TypeError."""
        raise TypeError("each page names its user")

    @property
    def may_create(self) -> bool:
        """Return True if the page offers the form of a new token."""
        return self.is_own

    def page(self, errors: dict[str, Any], typed: issuing.TokenRequest) -> dict[str, Any]:
        """Return the template values of the page; ``typed`` is the submitted form."""
        identity, user = self.request.user, self.user
        return {
            "user": user,
            "is_own": self.is_own,
            "may_create": self.may_create,
            "address": self.request.context_path(self.context),
            "back": self.request.context_path(self.context),
            "tokens": issuing.tokens_of(self.request.dbsession, user.id),
            "kind_titles": self.titles,
            "roles": issuing.roles_up_to(issuing.lower_role(identity.role, Role(user.role))),
            "factor": self.is_own and secondfactor.find(self.request.dbsession, user.id),
            "name_max": TOKEN_NAME_MAX,
            "days_max": issuing.DAYS_MAX,
            "typed": typed,
            "errors": {name: self.request.translate(text) for name, text in errors.items()},
        }

    def create(self) -> Response:
        """Create a token and show it, or show the form with the errors."""
        token_request = requested(self.request)
        if errors := self.reauthenticate():
            return self.refuse(errors, token_request)
        maker = issuing.Maker(self.request.user.name, self.request.user.role)
        try:
            token, text = issuing.create(self.request.dbsession, self.user, maker, token_request, self.titles)
        except issuing.TokenRefused as refused:
            return self.refuse({refused.field: refused.text}, token_request)
        self.record(Event.TOKEN_CREATED, token.name)
        values = {"name": token.name, "token": text, "back": self.address}
        return render_to_response(f"{TEMPLATES}/new_token.jinja2", values, request=self.request)

    def reauthenticate(self) -> dict[str, object]:
        """Return the errors of the current password and code, by field; others' tokens need none."""
        return {}

    def refuse(self, errors: dict[str, object], typed: issuing.TokenRequest) -> Response:
        """Return the page with errors by field and status 422; problem details (RFC 9457) for a JSON client."""
        page = self.page(errors, typed)
        if prefers_json(self.request):
            messages = page["errors"]
            return problem(
                self.request, 422, " ".join(messages.values()), errors={name: [messages[name]] for name in messages}
            )
        response = render_to_response(f"{TEMPLATES}/tokens.jinja2", page, request=self.request)
        response.status_int = 422
        return response

    def revoke(self) -> Response:
        """Revoke the token whose id is the field ``token``."""
        token_id = submitted_id(self.request, "token")
        if name := issuing.revoke(self.request.dbsession, self.user.id, token_id):
            self.record(Event.TOKEN_REVOKED, name)
        self.request.session.flash({"text": self.request.translate(_("That token was revoked."))})
        return HTTPSeeOther(self.request.application_url + self.address)

    def record(self, event: Event, name: str) -> None:
        """Record a security event about the token ``name``."""
        record(self.request, event, about="" if self.is_own else self.user.name, token=name)

    @property
    def address(self) -> str:
        """The path of the page."""
        path: str = self.request.context_path(self.context, "tokens")
        return path


def requested(request: Request) -> issuing.TokenRequest:
    """Return the submitted form of a new token. Raise HTTPBadRequest if a field was sent twice."""
    form = submitted(request, FIELDS)
    kinds = tuple(text for text in request.POST.getall("kind") if isinstance(text, str))
    return issuing.TokenRequest(
        name=form.get("name", ""),
        role=form.get("role", ""),
        kinds=kinds,
        is_read_only=form.get("read_only") == "1",
        days=form.get("days", ""),
        networks=form.get("networks", ""),
    )


@view_defaults(context=Profile)
class OwnTokens(TokenViews):
    """The user's own tokens."""

    is_own = True

    @property
    def user(self) -> AdminUser:
        user = self.request.dbsession.get(AdminUser, self.request.user.user_id)
        assert user is not None  # rows of users are never deleted
        return user

    @view_config(name="tokens", request_method="GET", permission=Permission.OWN_READ, renderer="tokens.jinja2")
    def show(self) -> dict[str, object]:
        """Render the tokens and the form of a new one."""
        return self.page({}, issuing.TokenRequest("", self.request.user.role))

    @view_config(name="tokens", request_method="POST", permission=Permission.OWN)
    def add(self) -> Response:
        """Create a token and show it once; 422 if a field, the password or the code is wrong."""
        return self.create()

    def reauthenticate(self) -> dict[str, Any]:
        errors = reauth.check(self.request)
        own_account(self.request)  # locked: two requests at once must not exceed the number of tokens
        return errors

    @view_config(name="revoke-token", request_method="POST", permission=Permission.OWN)
    def end(self) -> Response:
        """Revoke a token."""
        return self.revoke()


@view_defaults(context=User)
class UserTokens(TokenViews):
    """For administrators: the tokens of a service account, and to revoke those of a person."""

    @property
    def user(self) -> AdminUser:
        user: AdminUser = self.context.user
        return user

    @property
    def may_create(self) -> bool:
        return issuing.is_open_to_others(self.user)

    @view_config(name="tokens", request_method="GET", permission=Permission.USERS_READ, renderer="tokens.jinja2")
    def show(self) -> dict[str, object]:
        """Render the tokens and, for a service account, the form of a new one."""
        return self.page({}, issuing.TokenRequest("", self.user.role))

    @view_config(name="tokens", request_method="POST", permission=Permission.USERS)
    def add(self) -> Response:
        """Create a token of a service account and show it once; 422 if a field is invalid."""
        if not self.may_create:
            return self.refuse({"name": issuing.NOT_OPEN}, issuing.TokenRequest("", self.user.role))
        return self.create()

    @view_config(name="revoke-token", request_method="POST", permission=Permission.USERS)
    def end(self) -> Response:
        """Revoke a token."""
        return self.revoke()
