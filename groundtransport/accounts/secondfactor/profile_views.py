"""``/admin/profile/second-factor``: set up an app, renew the recovery codes, and switch the second factor off."""

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.accounts import secondfactor
from groundtransport.accounts.profile.views import own_account, redirect
from groundtransport.accounts.secondfactor import recovery, totp
from groundtransport.accounts.sign_in import reauth
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import OwnSecondFactor
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.form_data import submitted

REQUIRED = _("Your role requires a second factor. You cannot switch it off, but you can move it to another app.")
WRONG_FIRST = _(
    "This code is wrong. Check that the clock of your device is right, and enter the code that the app shows now."
)


@view_defaults(context=OwnSecondFactor)
class Enrolment:
    """The user's own second factor: its page, the two steps of the set-up, the recovery codes."""

    def __init__(self, context: OwnSecondFactor, request: Request) -> None:
        self.context, self.request = context, request
        settings = request.registry["settings"]
        self.secrets = settings.secrets
        self.is_required = request.user.role in settings.second_factor_roles

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> Response:
        """Render the state of the second factor."""
        return self._page({})

    @view_config(name="set-up", request_method="GET", permission=Permission.OWN_READ)
    def show_secret(self) -> Response:
        """Render the pending secret and its QR code; redirect to the page without one."""
        secret = self._pending_secret()
        return self._secret_page(secret, {}) if secret else self._redirect()

    @view_config(name="set-up", request_method="POST", permission=Permission.OWN)
    def begin(self) -> Response:
        """Generate a pending secret and redirect to it; 422 if the password or code is wrong."""
        errors = reauth.check(self.request)
        if errors:
            return self._page(errors, at="set-up")
        secondfactor.begin(self.request.dbsession, self.secrets, self.request.user.user_id)
        return self._redirect("set-up")

    @view_config(name="confirm", request_method="POST", permission=Permission.OWN)
    def confirm(self) -> Response:
        """Switch the second factor on with the first code of the app, and show the recovery codes once."""
        code = submitted(self.request, ("code",)).get("code", "")
        secret = self._pending_secret()
        if secret is None:
            return self._redirect()
        user = own_account(self.request)
        codes = secondfactor.confirm(self.request.dbsession, self.secrets, user, code)
        if codes is None:
            return self._secret_page(secret, {"code": WRONG_FIRST})
        self.request.session.sign_in(user)
        record(self.request, Event.SECOND_FACTOR, what="set up")
        return self._codes_page(codes)

    @view_config(name="codes", request_method="POST", permission=Permission.OWN)
    def renew_codes(self) -> Response:
        """Replace the recovery codes and show the new ones once; 422 if the password or code is wrong."""
        errors = reauth.check(self.request)
        factor = secondfactor.find(self.request.dbsession, self.request.user.user_id)
        if errors:
            return self._page(errors, at="codes")
        if factor is None:
            return self._redirect()
        record(self.request, Event.SECOND_FACTOR, what="new recovery codes")
        return self._codes_page(recovery.renew(self.request.dbsession, factor))

    @view_config(name="off", request_method="POST", permission=Permission.OWN)
    def switch_off(self) -> Response:
        """Switch the second factor off; 422 if the role requires one, or the password or code is wrong."""
        errors = {"code": REQUIRED} if self.is_required else reauth.check(self.request)
        if errors:
            return self._page(errors, at="off")
        user = own_account(self.request)
        secondfactor.switch_off(self.request.dbsession, user)
        self.request.session.sign_in(user)
        record(self.request, Event.SECOND_FACTOR, what="switched off")
        return redirect(self.request, _("Your second factor was switched off."), self.context.__parent__)

    # Parts

    def _pending_secret(self) -> str | None:
        return secondfactor.pending_secret(self.request.dbsession, self.secrets, self.request.user.user_id)

    def _redirect(self, *elements: str) -> Response:
        return HTTPSeeOther(self.request.application_url + self.request.context_path(self.context, *elements))

    def _page(self, errors: dict[str, str], at: str = "") -> Response:
        """Return the page; ``at`` is the name of the refused form."""
        identity = self.request.user
        factor = secondfactor.find(self.request.dbsession, identity.user_id)
        codes_left = recovery.count_left(self.request.dbsession, identity.user_id) if factor else 0
        values = {"factor": factor, "codes_left": codes_left, "few": recovery.FEW, "is_required": self.is_required}
        return self._answer("second_factor.jinja2", {**values, "at": at}, errors)

    def _secret_page(self, secret: str, errors: dict[str, str]) -> Response:
        name = self.request.user.name
        values = {"picture": totp.qr_code(secret, name), "secret": totp.grouped(secret), "name": name}
        return self._answer("set_up.jinja2", {**values, "issuer": totp.ISSUER}, errors)

    def _codes_page(self, codes: list[str]) -> Response:
        return self._answer("recovery_codes.jinja2", {"codes": codes}, {})

    def _answer(self, template: str, values: dict[str, object], errors: dict[str, str]) -> Response:
        values["errors"] = {name: self.request.translate(text) for name, text in errors.items()}
        response = render_to_response(template, values, request=self.request)
        response.status_int = 422 if errors else 200
        return response
