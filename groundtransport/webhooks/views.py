"""``/admin/webhooks``: the webhooks and their last deliveries, for administrators.

A secret is shown in the response to the POST that made it: a redirect would have to store it.
"""

from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.i18n import _
from groundtransport.outgoing import Failure
from groundtransport.request import Request
from groundtransport.resources import Webhook, Webhooks
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import submitted, submitted_id
from groundtransport.webhooks import models, outcome, subscriptions
from groundtransport.webhooks.subscriptions import Subscription, WebhookRefused, host_of

TEMPLATES = "groundtransport:webhooks/templates"
SHOWN = 50  # deliveries
EVENT_TITLES = {
    "created": _("Record created"),
    "updated": _("Record changed"),
    "verified": _("Record verified"),
    "deleted": _("Record deleted"),
    "restored": _("Record restored"),
    "purged": _("Record removed for good"),
}
FAILURES = {
    Failure.URL: _("The URL is not permitted"),
    Failure.ADDRESS: _("The address is not public"),
    Failure.NAME: _("The host has no address"),
    Failure.TLS: _("The certificate is not valid"),
    Failure.TIME: _("No answer in time"),
    Failure.CONNECTION: _("No connection"),
    outcome.ARCHIVED: _("The entry was archived"),
    outcome.NO_SECRET: _("The secret cannot be read: replace it"),
    outcome.SKIPPED: _("Skipped"),
}


def requested(request: Request) -> Subscription:
    """Return what the form asks for."""
    url = submitted(request, ("url",)).get("url", "")
    kinds, events = (
        tuple(text for text in request.POST.getall(name) if isinstance(text, str)) for name in ("kind", "event")
    )
    return Subscription(url, kinds, events)


class WebhookPages:
    """What both pages share."""

    def __init__(self, context: Any, request: Request) -> None:
        self.context, self.request = context, request
        self.settings = request.registry["settings"]
        self.dbsession = request.dbsession

    def checked(self) -> Subscription:
        """Return what the form asks for in its stored form; raise WebhookRefused."""
        allow_private = self.settings.webhooks_private
        return subscriptions.checked(
            requested(self.request), self.request.registry["kinds"], allow_private=allow_private
        )

    def page(self, errors: dict[str, str], typed: Subscription) -> dict[str, object]:
        """Return the template values that both pages share; ``typed`` is the submitted form."""
        return {
            "here": self.request.context_path(self.context),
            "kind_titles": {name: kind.plural for name, kind in self.request.registry["kinds"].items()},
            "kind_names": {name: kind.title for name, kind in self.request.registry["kinds"].items()},
            "event_titles": EVENT_TITLES,
            "url_max": models.URL_MAX,
            "failing": subscriptions.failing_since(self.dbsession),
            "waiting": subscriptions.waiting(self.dbsession),
            "typed": typed,
            "errors": errors,
        }

    def refuse(self, template: str, refused: WebhookRefused) -> Response:
        """Return the page with the error; problem details (RFC 9457) for a JSON client."""
        text = self.request.translate(refused.text)
        if prefers_json(self.request):
            return problem(self.request, 422, text, errors={refused.field: [text]})
        page = self.page({refused.field: text}, requested(self.request))
        response = render_to_response(f"{TEMPLATES}/{template}", page, request=self.request)
        response.status_int = 422
        return response

    def show_secret(self, webhook: models.Webhook, secret: str) -> Response:
        """Render the secret of a webhook, which is shown once."""
        back = self.request.context_path(self.request.root["admin"], "webhooks", str(webhook.id))
        values = {"url": webhook.url, "secret": secret, "back": back, "days": subscriptions.OLD_SECRET_FOR.days}
        values["is_new"] = webhook.old_secret is None
        return render_to_response(f"{TEMPLATES}/webhook_secret.jinja2", values, request=self.request)

    def record(self, event: Event, webhook: models.Webhook, what: str = "") -> None:
        """Record a security event about a webhook; ``what`` names the change."""
        details: dict[str, Any] = {"what": what} if what else {}
        record(self.request, event, webhook=webhook.id, host=host_of(webhook.url), **details)

    def redirect(self, text: str, context: object) -> Response:
        """Redirect to the page of a context, with the flash message ``text``."""
        self.request.session.flash({"text": self.request.translate(text)})
        return HTTPSeeOther(self.request.application_url + self.request.context_path(context))


@view_defaults(context=Webhooks)
class WebhooksViews(WebhookPages):
    """The list of webhooks, and the form of a new one."""

    @view_config(request_method="GET", permission=Permission.WEBHOOKS_READ, renderer=f"{TEMPLATES}/webhooks.jinja2")
    def show(self) -> dict[str, object]:
        """Render all webhooks."""
        return self.page({}, Subscription(""))

    @view_config(request_method="POST", permission=Permission.WEBHOOKS)
    def add(self) -> Response:
        """Create a webhook and show its secret."""
        try:
            subscription = self.checked()
            webhook, secret = subscriptions.create(
                self.dbsession, self.settings.secrets, subscription, self.request.user.name
            )
        except WebhookRefused as refused:
            return self.refuse("webhooks.jinja2", refused)
        self.record(Event.WEBHOOK_CREATED, webhook)
        return self.show_secret(webhook, secret)

    def page(self, errors: dict[str, str], typed: Subscription) -> dict[str, object]:
        return {**super().page(errors, typed), "webhooks": subscriptions.all_webhooks(self.dbsession)}


@view_defaults(context=Webhook)
class WebhookViews(WebhookPages):
    """One webhook: its form, its last deliveries, and its buttons."""

    @property
    def webhook(self) -> models.Webhook:
        """The row of the webhook."""
        webhook: models.Webhook = self.context.webhook
        return webhook

    @view_config(request_method="GET", permission=Permission.WEBHOOKS_READ, renderer=f"{TEMPLATES}/webhook.jinja2")
    def show(self) -> dict[str, object]:
        """Render the webhook and its last deliveries."""
        webhook = self.webhook
        return self.page({}, Subscription(webhook.url, tuple(webhook.kinds), tuple(webhook.events)))

    def page(self, errors: dict[str, str], typed: Subscription) -> dict[str, object]:
        return {
            **super().page(errors, typed),
            "webhook": self.webhook,
            "deliveries": subscriptions.deliveries(self.dbsession, self.webhook, SHOWN),
            "failures": FAILURES,
        }

    @view_config(request_method="POST", permission=Permission.WEBHOOKS)
    def change(self) -> Response:
        """Change the URL, the kinds and the events."""
        try:
            subscriptions.change(self.webhook, self.checked())
        except WebhookRefused as refused:
            return self.refuse("webhook.jinja2", refused)
        self.record(Event.WEBHOOK_CHANGED, self.webhook, what="changed")
        return self.redirect(_("The webhook was saved."), self.context)

    @view_config(name="secret", request_method="POST", permission=Permission.WEBHOOKS)
    def replace_secret(self) -> Response:
        """Give the webhook a new secret, and show it once."""
        secret = subscriptions.replace_secret(self.settings.secrets, self.webhook)
        self.record(Event.WEBHOOK_SECRET, self.webhook)
        return self.show_secret(self.webhook, secret)

    @view_config(name="on", request_method="POST", permission=Permission.WEBHOOKS)
    def switch_on(self) -> Response:
        """Switch the webhook on."""
        subscriptions.switch(self.dbsession, self.webhook, on=True)
        self.record(Event.WEBHOOK_CHANGED, self.webhook, what="switched on")
        return self.redirect(_("The webhook was switched on. It continues where it stopped."), self.context)

    @view_config(name="off", request_method="POST", permission=Permission.WEBHOOKS)
    def switch_off(self) -> Response:
        """Switch the webhook off."""
        subscriptions.switch(self.dbsession, self.webhook, on=False)
        self.record(Event.WEBHOOK_CHANGED, self.webhook, what="switched off")
        return self.redirect(_("The webhook was switched off."), self.context)

    @view_config(name="remove", request_method="POST", permission=Permission.WEBHOOKS)
    def remove(self) -> Response:
        """Remove the webhook and its deliveries."""
        self.record(Event.WEBHOOK_CHANGED, self.webhook, what="removed")
        subscriptions.remove(self.dbsession, self.webhook)
        return self.redirect(_("The webhook was removed."), self.context.__parent__)

    @view_config(name="test", request_method="POST", permission=Permission.WEBHOOKS)
    def test(self) -> Response:
        """Add a test message."""
        subscriptions.add_test(self.dbsession, self.webhook)
        return self.redirect(_("A test message will be sent."), self.context)

    @view_config(name="resend", request_method="POST", permission=Permission.WEBHOOKS)
    def resend(self) -> Response:
        """Send the delivery whose id is the field ``delivery`` once more."""
        is_there = subscriptions.resend(self.dbsession, self.webhook, self._delivery_id())
        return self.redirect(_("The message will be sent again.") if is_there else NOT_THERE, self.context)

    @view_config(name="skip", request_method="POST", permission=Permission.WEBHOOKS)
    def skip(self) -> Response:
        """Give up the delivery whose id is the field ``delivery``."""
        is_there = subscriptions.skip(self.dbsession, self.webhook, self._delivery_id())
        return self.redirect(_("The message will not be sent.") if is_there else NOT_THERE, self.context)

    def _delivery_id(self) -> int:
        """Return the id in the field ``delivery``; 0 if it is none."""
        return submitted_id(self.request, "delivery")


NOT_THERE = _("That message is no longer there.")
