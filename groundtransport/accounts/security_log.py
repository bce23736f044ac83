"""The security log: who came in or did not, and what was done to accounts, sessions and permissions.

``record`` notes an event on its request; the tween writes it after the request has ended, in a transaction of its own:
a refused request leaves its event, too, and nobody waits for themselves. An event of a change is written only where the
change was committed. Each is also one line of the process log. Neither ever holds a password, a token or a key.
"""

import hmac
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pyramid.exceptions import BadCSRFToken
from pyramid.httpexceptions import HTTPForbidden, HTTPServiceUnavailable
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.accounts import event_chain
from groundtransport.accounts.models import NAME_MAX, AdminUser, SecurityEvent
from groundtransport.accounts.omitted_events import WINDOW, Count, LeftOut
from groundtransport.db import BUDGET, now, write_engine
from groundtransport.security import derive, origin_is_ours
from groundtransport.signing import Key
from groundtransport.web.client import client_ip_of, network_of
from groundtransport.web.urls import segments

log = logging.getLogger("groundtransport.security")

DETAIL_MAX = 200  # characters
COMMAND_LINE = "command line"  # in the place of an address


class Event(StrEnum):
    """What can happen; the values stand in the database."""

    SIGN_IN = "sign-in"
    SIGN_IN_FAILED = "sign-in failed"
    THROTTLED = "sign-in throttled"
    SIGN_OUT = "sign-out"
    SESSION_ENDED = "session ended"
    DENIED = "denied"
    BAD_EDIT_KEY = "bad edit key"
    FORGED = "request refused"  # no right CSRF token, or a foreign Origin
    PASSWORD_CHANGED = "password changed"  # noqa: S105  # by the person
    PASSWORD_RESET = "password reset"  # noqa: S105  # by somebody else
    SECOND_FACTOR = "second factor changed"
    ROLE_CHANGED = "role changed"
    USER_ADDED = "user added"
    USER_DISABLED = "user disabled"
    USER_ENABLED = "user enabled"
    EXPORT = "export"
    PRUNED = "events removed"  # those that were too old: the log begins behind them
    RESEALED = "key replaced"  # the newest key vouches for the events of an older one
    LEFT_OUT = "events left out"  # how many of a sort were not written, for they were too many


# What anybody can cause as often as they like: written also when the request was refused, and never without bound.
REFUSALS = frozenset({Event.SIGN_IN_FAILED, Event.THROTTLED, Event.DENIED, Event.BAD_EDIT_KEY, Event.FORGED})
MOST_OF_ONE = 50  # of one event, from one network in one window
MOST_OF_ALL = 1_000  # of one event in one window: 288,000 a day at the worst


@dataclass(frozen=True)
class Entry:
    """One event, as it is written."""

    event: Event
    name: str
    user_id: int | None = None
    about: str = ""
    address: str = ""
    request_id: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    at: datetime = field(default_factory=now)

    @property
    def row(self) -> dict[str, Any]:
        return {**vars(self), "network": network_of(self.address)}

    @property
    def line(self) -> str:
        """JSON in ASCII: every line break and control character is escaped."""
        facts = {name: value for name, value in vars(self).items() if value and name != "at"}
        return json.dumps({"at": self.at.isoformat(), **facts})


def security_events(request: Request) -> list[Entry]:
    """``request.security_events``: what is to be written when the request has ended."""
    return []


def record(
    request: Request, event: Event, *, user: AdminUser | None = None, name: str = "", about: str = "", **details: object
) -> None:
    """Note an event of this request.

    ``user`` or ``name`` says who did it, where that is not the signed-in person; ``about`` names whose account it is
    about, where that is somebody else's. ``details`` are short facts: never a secret, nor a name as it was typed.
    """
    who = user or request.session.known_identity
    user_id = None if who is None else who.id if isinstance(who, AdminUser) else who.user_id
    known = name or (who.name if who else "")
    texts = {key: str(value)[:DETAIL_MAX] for key, value in details.items()}
    request.security_events.append(
        Entry(event, known[:NAME_MAX], user_id, about[:NAME_MAX], client_ip_of(request), request.id, texts)
    )


def stranger(request: Request, typed: str) -> str:
    """Return what stands in the log for a user name that nobody has: it may be a password in the wrong field.

    The same name gives the same mark; without the secret nothing can be told from it. No user name holds a blank.
    """
    key = derive(request.registry["settings"].secrets[0], "security-log/v1")
    return f"(unknown {hmac.new(key, typed.encode(errors='replace'), 'sha256').hexdigest()[:6]})"


@dataclass(frozen=True)
class SecurityLog:
    """Where events are written, signed with ``key``; ``left_out`` counts what would be too much of its sort."""

    engine: Engine
    key: Key
    left_out: LeftOut = field(default_factory=LeftOut)


def write(to: SecurityLog, entries: Iterable[Entry], wait: float | None = None) -> None:
    """Write events down, in one transaction; a database in trouble leaves the lines of the process log."""
    kept = list(entries)
    try:
        floods = find_floods(to.engine, kept)
        kept = [entry for entry in kept if entry not in floods]
        if kept:
            with write_engine(to.engine, wait).begin() as connection:
                event_chain.append(connection, to.key, [entry.row for entry in kept])
    except SQLAlchemyError:
        log.warning("security events were not written to the database", exc_info=True)
    else:
        for entry in floods:
            to.left_out.add(entry.event, network_of(entry.address), entry.at)
    tell(kept)


def count_entry(count: Count) -> Entry:
    """Return the event that says how many events were left out."""
    facts = {"event": count.event, "number": str(count.number), "since": count.since.isoformat(timespec="seconds")}
    return Entry(Event.LEFT_OUT, "", address=count.network, details=facts)


def write_counts(to: SecurityLog) -> None:
    """Write down how many events were left out so far, whether their window is over or not: the process ends."""
    counts = to.left_out.over()
    if counts:
        write(to, map(count_entry, counts))


def tell(entries: Iterable[Entry]) -> None:
    for entry in entries:
        log.log(logging.WARNING if entry.event in REFUSALS else logging.INFO, "%s", entry.line)


def find_floods(engine: Engine, entries: list[Entry]) -> list[Entry]:
    """Return the events that would be too many of their sort in a window; asked without a lock."""
    refusals = [entry for entry in entries if entry.event in REFUSALS]
    if not refusals:
        return []
    with engine.connect() as connection:
        return [entry for entry in refusals if _is_flood(connection, entry)]


def _is_flood(connection: Connection, entry: Entry) -> bool:
    table = SecurityEvent
    same = (table.event == entry.event, table.at > entry.at - WINDOW)
    here = table.network == network_of(entry.address)
    bounds = [(MOST_OF_ALL, same), (MOST_OF_ONE, (*same, here))]
    if entry.event == Event.THROTTLED:
        bounds.append((1, (*same, here, table.name == entry.name)))
    return any(
        connection.scalar(select(table.id).where(*conditions).offset(most - 1).limit(1)) is not None
        for most, conditions in bounds
    )


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    def write_events(request: Request) -> Response:
        status = 500
        try:
            response = handler(request)
            status = response.status_int
        finally:
            finish(request, status)
        return response

    return write_events


def finish(request: Request, status: int) -> None:
    """Write the events of a request that was answered so."""
    notice(request)
    to = request.registry["security_log"]
    entries = [entry for entry in request.security_events if entry.event in REFUSALS or status < 400]
    entries += map(count_entry, to.left_out.over(now()))
    if status == HTTPServiceUnavailable.code:
        tell(entries)  # the database is in trouble: no second wait for it
    elif entries:
        left = max(0.1, BUDGET - (time.monotonic() - request.began))
        write(to, entries, left)


def notice(request: Request) -> None:
    """Note what the service itself refused, by the exception that was turned into the answer."""
    refusal = getattr(request, "exception", None)
    if isinstance(refusal, BadCSRFToken):
        why = "token" if origin_is_ours(request) else "origin"
        record(request, Event.FORGED, because=why, method=request.method, path=_path(request))
    elif isinstance(refusal, HTTPForbidden):
        permission = getattr(refusal.result, "permission", "")
        record(request, Event.DENIED, permission=permission, method=request.method, path=_path(request))


def _path(request: Request) -> str:
    return "/" + "/".join(segments(request))
