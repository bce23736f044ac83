"""Deliver messages to webhooks: the loop of ``groundtransport webhooks deliver``."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from pyramid.registry import Registry
from sqlalchemy.exc import SQLAlchemyError

from groundtransport import outgoing
from groundtransport.db import AnyRow, now
from groundtransport.security_log.events import COMMAND_LINE, Entry, Event
from groundtransport.security_log.log import write
from groundtransport.webhooks import messages, queue, signatures
from groundtransport.webhooks.models import ANSWER_KEPT
from groundtransport.webhooks.outcome import ARCHIVED, NO_SECRET, Outcome, retry_after
from groundtransport.webhooks.subscriptions import host_of

log = logging.getLogger(__name__)

POLL = 1.0  # seconds between two looks for something to do
THREADS = 4  # webhooks that one process delivers to at a time, so that a slow one does not hold up the others


class Deliverer:
    """Delivers to one webhook at a time. ``clock`` returns the time by which pauses and leases are measured."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime] = now) -> None:
        self.registry, self.clock = registry, clock
        self.engine, self.settings = registry["engine"], registry["settings"]
        self.owner = secrets.token_hex(16)

    def deliver_pending(self, ending: threading.Event | None = None) -> int:
        """Take turns until nothing is due; return the number of messages that were sent."""
        count = 0
        while not (ending and ending.is_set()):
            taken = queue.claim(self.engine, self.owner, self.clock())
            if taken is None:
                break
            count += self._turn(taken, ending or threading.Event())
        return count

    def _turn(self, taken: queue.Claim, ending: threading.Event) -> int:
        """Deliver to a webhook what is due, up to a limit; return the number of messages that were sent."""
        read = queue.add_deliveries(self.engine, taken, self.clock())
        sent, wait = self._send_due(taken, ending)
        if not read and not sent:
            wait = queue.IDLE
        queue.release(self.engine, taken, self.clock() + wait)
        return sent

    def _send_due(self, taken: queue.Claim, ending: threading.Event) -> tuple[int, timedelta]:
        """Send the deliveries that are due; return their number, and the pause before the webhook's next turn."""
        count, failed = 0, set()
        for delivery in queue.due(self.engine, taken, self.clock()):
            record = (delivery.kind, delivery.record_id)
            if ending.is_set():
                break
            if delivery.record_id is not None and record in failed:
                continue  # until the earlier message about the record is delivered
            outcome = self._attempt(taken, delivery)
            count += 1
            if problem := queue.settle(self.engine, taken, delivery, outcome, self.clock()):
                self._report(taken, problem)
                break
            if outcome.is_down:
                return count, outcome.pause(delivery.attempts + 1)
            if not outcome.is_done:
                failed.add(record)
        return count, timedelta(0)

    def _report(self, taken: queue.Claim, problem: str) -> None:
        """Log that a turn ended early, in the security log if the service has switched the webhook off."""
        if problem == queue.LOST:
            log.warning("webhook %d: switched off, removed or taken over", taken.webhook_id)
            return
        about = {"webhook": str(taken.webhook_id), "host": host_of(taken.url)}
        details = {**about, "what": "switched off", "because": problem}
        write(self.registry["security_log"], [Entry(Event.WEBHOOK_CHANGED, "", address=COMMAND_LINE, details=details)])

    def _attempt(self, taken: queue.Claim, delivery: AnyRow) -> Outcome:
        """Send a message once."""
        body = self._body(delivery)
        if body is None:
            return Outcome(failure=ARCHIVED)
        signing_secrets = self._secrets(taken)
        if not signing_secrets:
            return Outcome(failure=NO_SECRET)
        signing = signatures.sign(signing_secrets, delivery.message_id, self.clock(), body)
        headers = {"Content-Type": "application/json", "User-Agent": "groundtransport", **signing}
        begin = time.monotonic()
        try:
            allow_private = self.settings.webhooks_private
            answer = outgoing.send("POST", taken.url, body, headers, allow_private=allow_private)
        except outgoing.RequestFailed as error:
            return Outcome(failure=error.failure, milliseconds=_milliseconds_since(begin))
        headers = {name.lower(): value for name, value in answer.headers.items()}
        wait = retry_after(answer.status, headers.get("retry-after", ""), self.clock())
        return Outcome(answer.status, "", _text(answer.body), _milliseconds_since(begin), wait)

    def _body(self, delivery: AnyRow) -> bytes | None:
        if delivery.event == messages.TEST:
            return messages.test_message(delivery.created_at)
        kinds = self.registry["kinds"]
        return messages.message(self.engine, kinds, delivery.event, delivery.number)

    def _secrets(self, taken: queue.Claim) -> list[str]:
        """Return the secrets that sign: the new one, and the old one until its end."""
        sealed = [taken.secret]
        if taken.old_secret and taken.old_secret_until and taken.old_secret_until > self.clock():
            sealed.append(taken.old_secret)
        plain = [signatures.unseal(self.settings.secrets, taken.webhook_id, each) for each in sealed]
        return [secret for secret in plain if secret]


def _milliseconds_since(begin: float) -> int:
    return round((time.monotonic() - begin) * 1000)


def _text(body: bytes) -> str:
    """Return the beginning of an answer as text that every database stores and every page shows."""
    text = body[: 4 * ANSWER_KEPT].decode(errors="replace")
    return "".join(each if each.isprintable() else " " for each in text[:ANSWER_KEPT]).strip()


class DeliveryLoop:
    """Deliver in several threads until ``end`` is called."""

    def __init__(self, registry: Registry) -> None:
        self.registry, self.ending = registry, threading.Event()

    def run(self) -> None:
        """Start the threads, and wait until all have ended."""
        threads = [threading.Thread(target=self._loop, name=f"webhooks {n}") for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self) -> None:
        """Let ``run`` return after the messages that are being sent."""
        self.ending.set()

    def _loop(self) -> None:
        deliverer = Deliverer(self.registry)
        while not self.ending.is_set():
            try:
                deliverer.deliver_pending(self.ending)
            except SQLAlchemyError as error:
                log.warning("webhooks: the database cannot be used, trying again: %s", error)
            except Exception:  # a thread that ended would deliver nothing more, and nobody would notice
                log.exception("webhooks: a delivery failed, trying again")
            self.ending.wait(POLL)
