"""A plug-in: tells another system of every change by a signed POST, and can neither lose a message nor invent one.

Off by default; docs/events.md says how to switch it on. The message is a row of the change's own transaction. A sender
delivers the rows at least once, those of one record in order; the receiver drops repeats by ``X-Webhook-Id``.
"""

import argparse
import hmac
import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import plaster
import sqlalchemy as sa
from pyramid.config import Configurator
from pyramid.events import ApplicationCreated

from groundtransport import db, settings
from groundtransport.db import now
from groundtransport.events import RecordChanged

log = logging.getLogger("groundtransport.webhook")

TIME_OUT = 10  # seconds for each step of a POST
LEASE = timedelta(minutes=1)  # how long a message belongs to the sender that took it; well over a POST
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
IDLE = 2  # seconds between two looks into the outbox
CONNECTIONS = {"http": HTTPConnection, "https": HTTPSConnection}

METADATA = sa.MetaData()  # of its own: the application's migrations do not make this table
OUTBOX = sa.Table(
    "webhook_outbox",
    METADATA,
    sa.Column("id", db.Id, primary_key=True),  # the order
    # Not the number: after a restored backup, that could name another message, which the receiver would drop.
    sa.Column("message_id", sa.String(32), nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("record_id", db.Id, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("next_at", db.UTCDateTime, nullable=False),
    sa.Column("last_error", sa.Text),
    sa.Column("sent_at", db.UTCDateTime),
)
UNSENT = OUTBOX.c.sent_at.is_(None)
sa.Index("ix_webhook_outbox_unsent", OUTBOX.c.id, postgresql_where=UNSENT, sqlite_where=UNSENT)
BY_RECORD = (OUTBOX.c.kind, OUTBOX.c.record_id, OUTBOX.c.id)
sa.Index("ix_webhook_outbox_unsent_record", *BY_RECORD, postgresql_where=UNSENT, sqlite_where=UNSENT)


def includeme(config: Configurator) -> None:
    config.add_subscriber(keep, RecordChanged)
    config.add_subscriber(check, ApplicationCreated)


def keep(event: RecordChanged) -> None:
    """Put the message of a change into the outbox: committed with the change, or undone with it."""
    record = {"kind": event.kind, "record_id": event.record_id}
    message_id, moment = uuid4().hex, now()
    message = {"id": message_id, "at": moment.isoformat(), "action": event.action, **record}
    message |= {"label": event.label, "version": event.version, "changes": changes(event.before, event.after)}
    row = {**record, "message_id": message_id, "next_at": moment, "body": json.dumps(message, default=str)}
    event.dbsession.execute(sa.insert(OUTBOX).values(row))


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fields that differ, each with its value before and after."""
    pairs = {name: {"before": before.get(name), "after": after.get(name)} for name in {**before, **after}}
    return {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}


def check(event: ApplicationCreated) -> None:
    """Stop the start where the table is missing, since each change would fail; not where the database is away."""
    with suppress(sa.exc.OperationalError):
        if not sa.inspect(event.app.registry["engine"]).has_table(OUTBOX.name):
            raise settings.SettingsError(f"{OUTBOX.name} is missing: run python webhook.py -c FILE.ini setup")


class Target(NamedTuple):
    """Where messages go, and the secret that signs them."""

    url: str
    secret: bytes


def read_target(environ: Mapping[str, str]) -> Target:
    """Return what the environment says; raise SettingsError with the name of what is missing or bad."""
    url, secret = (environ.get(f"GROUNDTRANSPORT_WEBHOOK_{name}", "") for name in ("URL", "SECRET"))
    is_good = False
    with suppress(ValueError):  # of a bad port
        parts = urlsplit(url)
        is_good = bool(url.isascii() and parts.scheme in CONNECTIONS and parts.hostname and parts.port != 0)
    if not is_good:
        raise settings.SettingsError("GROUNDTRANSPORT_WEBHOOK_URL must be an address with http:// or https://")
    if len(secret) < settings.SECRET_MIN_LENGTH:
        raise settings.SettingsError(f"GROUNDTRANSPORT_WEBHOOK_SECRET needs {settings.SECRET_MIN_LENGTH} characters")
    return Target(url, secret.encode())


def send_due(engine: sa.Engine, target: Target) -> None:
    """Send each message that is due by now, once."""
    moment = now()
    while row := claim(engine, moment):
        error = post(target, row)
        settle(engine, row, error)
        log.log(logging.WARNING if error else logging.INFO, "message %s: %s", row.message_id, error or "sent")


def claim(engine: sa.Engine, moment: datetime) -> sa.Row[Any] | None:
    """Return the oldest message due at ``moment``, for this sender alone during LEASE; None when there is none.

    The lease stands in for a lock held during the POST: on SQLite, that would stop every writer of the application.
    A sender that is killed leaves a message that becomes due again by itself.
    """
    older = OUTBOX.alias()
    is_same = (older.c.kind == OUTBOX.c.kind) & (older.c.record_id == OUTBOX.c.record_id)
    is_behind = sa.exists().where(is_same, older.c.id < OUTBOX.c.id, older.c.sent_at.is_(None))
    due = sa.select(OUTBOX).where(UNSENT, OUTBOX.c.next_at <= moment, ~is_behind).order_by(OUTBOX.c.id).limit(1)
    with db.write_engine(engine).begin() as connection:
        row = connection.execute(due.with_for_update(skip_locked=True, of=OUTBOX)).first()
        if row is not None:
            taken = {"attempts": row.attempts + 1, "next_at": now() + LEASE}
            connection.execute(sa.update(OUTBOX).where(OUTBOX.c.id == row.id).values(taken))
    return row


def post(target: Target, row: sa.Row[Any]) -> str:
    """Send a message; return "" after a 2xx answer, else what went wrong. A redirect is not followed."""
    parts, body = urlsplit(target.url), row.body.encode()
    address = parts._replace(scheme="", netloc="", path=parts.path or "/", fragment="").geturl()
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Id": row.message_id,
        "X-Webhook-Signature": f"sha256={hmac.new(target.secret, body, 'sha256').hexdigest()}",
    }
    connection = CONNECTIONS[parts.scheme](parts.hostname or "", parts.port, timeout=TIME_OUT)
    try:
        connection.request("POST", address, body, headers)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    return "" if 200 <= status < 300 else f"The receiver answered {status}"


def settle(engine: sa.Engine, row: sa.Row[Any], error: str) -> None:
    """Mark a message as sent or, after an error, put it off: each time twice as long."""
    change = sa.update(OUTBOX).where(OUTBOX.c.id == row.id)
    if error:
        pause = min(FIRST_PAUSE * 2 ** min(row.attempts, 20), LONGEST_PAUSE)
        # Of this attempt alone: a sender that was held up must not touch what another has taken since.
        change = change.where(OUTBOX.c.attempts == row.attempts + 1).values(last_error=error, next_at=now() + pause)
    else:
        change = change.values(last_error=None, sent_at=now())
    with db.write_engine(engine).begin() as connection:
        connection.execute(change)


def send(engine: sa.Engine, target: Target) -> None:
    """Send what is due, for ever; a database that is away is waited for."""
    while True:
        try:
            send_due(engine, target)
        except sa.exc.DBAPIError as error:
            log.warning("database: %s", error.orig)
        time.sleep(IDLE)


def main() -> None:
    """``python webhook.py -c FILE.ini setup``, or ``send [--once]``."""
    parser = argparse.ArgumentParser(description="Sends a signed message for every change of a record.")
    parser.add_argument("-c", "--config", required=True, metavar="FILE.ini")
    parser.add_argument("command", choices=("setup", "send"))
    parser.add_argument("--once", action="store_true", help="send what is due now, and end")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    engine = db.make_engine(settings.read(plaster.get_settings(given.config, "app:main")))
    if given.command == "setup":
        METADATA.create_all(db.write_engine(engine))
    else:
        (send_due if given.once else send)(engine, read_target(os.environ))


if __name__ == "__main__":
    main()
