"""Create, change, list and remove webhooks, and act on their deliveries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import and_, delete, func, select, update
from sqlalchemy.orm import Session
from translationstring import TranslationString

from groundtransport.audit.models import AuditHead
from groundtransport.db import SAFE_METHODS, now
from groundtransport.i18n import _
from groundtransport.outgoing import BadUrl, parse_url
from groundtransport.request import Request
from groundtransport.webhooks import signatures
from groundtransport.webhooks.messages import EVENTS, TEST
from groundtransport.webhooks.models import URL_MAX, Delivery, Webhook
from groundtransport.webhooks.outcome import SKIPPED
from groundtransport.webhooks.queue import new_message_id

WEBHOOKS_MAX = 50
OLD_SECRET_FOR = timedelta(days=7)  # during which the old secret signs beside the new one


class WebhookRefused(Exception):
    """The webhook cannot be stored so. ``field`` names the field of the form that is wrong."""

    def __init__(self, field: str, text: TranslationString) -> None:
        super().__init__(text)
        self.field, self.text = field, text


@dataclass(frozen=True)
class Subscription:
    """What a person asks for: the URL, and the kinds and events, each empty for all."""

    url: str
    kinds: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


def checked(subscription: Subscription, kinds: Collection[str], *, allow_private: bool) -> Subscription:
    """Return the subscription in its stored form; ``kinds`` are the names of all kinds. Raise WebhookRefused."""
    url = subscription.url.strip()
    try:
        if len(url) > URL_MAX:
            raise BadUrl(url)
        parse_url(url, allow_private=allow_private)
    except BadUrl:
        text = _("Write the URL of a public server that begins with https://, without a password and without #.")
        raise WebhookRefused("url", text) from None
    if set(subscription.kinds) - set(kinds):
        raise WebhookRefused("kinds", _("Choose among the kinds shown."))
    if set(subscription.events) - set(EVENTS.values()):
        raise WebhookRefused("events", _("Choose among the events shown."))
    return Subscription(url, _some(subscription.kinds, kinds), _some(subscription.events, EVENTS.values()))


def _some(chosen: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """Return the chosen names in their order, () if all are chosen."""
    return () if set(chosen) == set(known) else tuple(name for name in known if name in chosen)


def create(dbsession: Session, keys: tuple[bytes, ...], subscription: Subscription, maker: str) -> tuple[Webhook, str]:
    """Create a webhook for the changes from now on; return its row and its secret. Raise WebhookRefused."""
    if (dbsession.scalar(select(func.count()).select_from(Webhook)) or 0) >= WEBHOOKS_MAX:
        text = _("There are ${n} webhooks already. Remove one first.", mapping={"n": WEBHOOKS_MAX})
        raise WebhookRefused("url", text)
    secret = signatures.new_secret()
    webhook = Webhook(
        url=subscription.url,
        kinds=list(subscription.kinds),
        events=list(subscription.events),
        position=dbsession.scalar(select(AuditHead.number).where(AuditHead.id == 1)) or 0,
        created_by=maker,
    )
    dbsession.add(webhook)
    dbsession.flush()  # the id is a part of the encryption
    webhook.secret = signatures.seal(keys, webhook.id, secret)
    return webhook, secret


def change(webhook: Webhook, subscription: Subscription) -> None:
    """Store what a person asked for. Deliveries that wait go to the new URL."""
    webhook.url, webhook.kinds, webhook.events = subscription.url, list(subscription.kinds), list(subscription.events)
    webhook.next_at = now()


def replace_secret(keys: tuple[bytes, ...], webhook: Webhook) -> str:
    """Give a webhook a new secret and return it; the old one signs, too, for OLD_SECRET_FOR."""
    secret = signatures.new_secret()
    webhook.old_secret, webhook.old_secret_until = webhook.secret, now() + OLD_SECRET_FOR
    webhook.secret = signatures.seal(keys, webhook.id, secret)
    return secret


def switch(dbsession: Session, webhook: Webhook, *, on: bool) -> None:
    """Switch a webhook on or off. Switched on, it continues where it stopped, and what waits is tried at once."""
    webhook.is_on, webhook.problem, webhook.next_at = on, "", now()
    if on:
        waiting = update(Delivery).where(Delivery.webhook_id == webhook.id, Delivery.done_at.is_(None))
        dbsession.execute(waiting.values(attempts=0, first_at=None, next_at=now()))


def remove(dbsession: Session, webhook: Webhook) -> None:
    """Remove a webhook and its deliveries."""
    dbsession.execute(delete(Delivery).where(Delivery.webhook_id == webhook.id))
    dbsession.delete(webhook)


def add_test(dbsession: Session, webhook: Webhook) -> None:
    """Add a message that tests a webhook."""
    dbsession.add(Delivery(webhook_id=webhook.id, message_id=new_message_id(), event=TEST))
    webhook.next_at = now()


def resend(dbsession: Session, webhook: Webhook, delivery_id: int) -> bool:
    """Let a delivery, done or waiting, be tried at once; return False if there is none with that id."""
    again = {"done_at": None, "attempts": 0, "first_at": None, "next_at": now(), "failure": "", "status": None}
    return _change_delivery(dbsession, webhook, delivery_id, again)


def skip(dbsession: Session, webhook: Webhook, delivery_id: int) -> bool:
    """Give a waiting delivery up, so that later ones of its record follow; return False if there is none."""
    return _change_delivery(dbsession, webhook, delivery_id, {"done_at": now(), "failure": SKIPPED}, is_waiting=True)


def _change_delivery(
    dbsession: Session, webhook: Webhook, delivery_id: int, values: Mapping[str, object], *, is_waiting: bool = False
) -> bool:
    named = [Delivery.webhook_id == webhook.id, Delivery.id == delivery_id]
    named += [Delivery.done_at.is_(None)] if is_waiting else []
    webhook.next_at = now()
    updated_id = dbsession.scalar(update(Delivery).where(*named).values(values).returning(Delivery.id))
    return updated_id is not None


def find_webhook(request: Request, webhook_id: int) -> Webhook | None:
    """``request.find_webhook(id)``: return a webhook, locked if the request may change it."""
    query = select(Webhook).where(Webhook.id == webhook_id)
    webhook: Webhook | None = request.dbsession.scalar(
        query if request.method in SAFE_METHODS else query.with_for_update()
    )
    return webhook


def all_webhooks(dbsession: Session) -> Sequence[Webhook]:
    """Return all webhooks in the order of their creation."""
    return dbsession.scalars(select(Webhook).order_by(Webhook.id)).all()


def host_of(url: str) -> str:
    """Return the host of a URL, for the logs: its path and its query may hold a secret."""
    return urlsplit(url).hostname or ""


def failing_since(dbsession: Session) -> dict[int, datetime]:
    """Return since when the oldest failing delivery of a webhook fails, by the webhook's id."""
    is_failing = (Delivery.done_at.is_(None), Delivery.first_at.is_not(None))
    query = select(Delivery.webhook_id, func.min(Delivery.first_at)).where(*is_failing).group_by(Delivery.webhook_id)
    return {row[0]: row[1] for row in dbsession.execute(query) if row[1]}


def waiting(dbsession: Session) -> dict[int, int]:
    """Return the number of deliveries that wait, by the webhook's id."""
    query = select(Delivery.webhook_id, func.count()).where(Delivery.done_at.is_(None)).group_by(Delivery.webhook_id)
    return {row[0]: row[1] for row in dbsession.execute(query)}


def deliveries(dbsession: Session, webhook: Webhook, limit: int) -> Sequence[Delivery]:
    """Return the last deliveries of a webhook, newest first, but before them those that failed and are tried again.

    They tell what is wrong, and can be skipped, also when many others wait behind them.
    """
    is_failing = and_(Delivery.done_at.is_(None), Delivery.attempts > 0)
    query = select(Delivery).where(Delivery.webhook_id == webhook.id).order_by(is_failing.desc(), Delivery.id.desc())
    return dbsession.scalars(query.limit(limit)).all()


def switched_off(dbsession: Session) -> Sequence[Webhook]:
    """Return the webhooks that the service has switched off."""
    return dbsession.scalars(select(Webhook).where(Webhook.problem != "").order_by(Webhook.id)).all()


def reseal(dbsession: Session, keys: tuple[bytes, ...]) -> int:
    """Re-encrypt the secrets that an older secret of the service sealed; return the number of webhooks."""
    count = 0
    for webhook in all_webhooks(dbsession):
        renewed = {
            name: signatures.seal(keys, webhook.id, text)
            for name in ("secret", "old_secret")
            if (sealed := getattr(webhook, name))
            and not signatures.is_newest(keys, webhook.id, sealed)
            and (text := signatures.unseal(keys, webhook.id, sealed)) is not None
        }
        for name, value in renewed.items():
            setattr(webhook, name, value)
        count += bool(renewed)
    return count
