"""Record the security events of a request, and write them after it has ended.

``record`` adds an event to ``request.security_events``. The tween writes the events in a transaction of its own, never
inside the request's: a refused request must leave its events, and on SQLite a second writer would deadlock. An event
that reports a change is written only if the change was committed. No event holds a password, a token or a key.
"""

import hmac
from collections.abc import Callable
from typing import Protocol

from pyramid.exceptions import BadCSRFToken
from pyramid.httpexceptions import HTTPForbidden, HTTPServiceUnavailable
from pyramid.response import Response

from groundtransport.db import now
from groundtransport.request import Registry, Request
from groundtransport.security import NAME_MAX, Identity, derive, known_identity, origin_is_ours
from groundtransport.security_log.events import REFUSALS, Entry, Event
from groundtransport.security_log.log import count_entry, write, write_lines
from groundtransport.web.client import client_ip_of
from groundtransport.web.short_transaction import remaining_time
from groundtransport.web.urls import segments

DETAIL_MAX = 200  # characters


class Account(Protocol):
    """A user's account: its id and its user name."""

    @property
    def id(self) -> int: ...

    @property
    def name(self) -> str: ...


def security_events(request: Request) -> list[Entry]:
    """``request.security_events``: the events to write after the request."""
    return []


def record(
    request: Request, event: Event, *, user: Account | None = None, name: str = "", about: str = "", **details: object
) -> None:
    """Record an event of this request.

    It is attributed to the signed-in user unless ``user`` or ``name`` is given. ``about`` is the name of the other user
    whose account it concerns. ``details`` are short values: never a secret, nor a user name as it was typed.
    """
    request.security_events.append(make_entry(request, event, user=user, name=name, about=about, **details))


def make_entry(
    request: Request, event: Event, *, user: Account | None = None, name: str = "", about: str = "", **details: object
) -> Entry:
    """Return the entry that ``record`` records."""
    identity = known_identity(request)
    user_id, own_name = (user.id, user.name) if user else _signed_in(identity)
    if identity and identity.token:
        details = {"token": identity.token.name, **details}
    return Entry(
        event,
        name=(name or own_name)[:NAME_MAX],
        user_id=user_id,
        about=about[:NAME_MAX],
        address=client_ip_of(request),
        request_id=request.id,
        details={key: str(value)[:DETAIL_MAX] for key, value in details.items()},
    )


def _signed_in(identity: Identity | None) -> tuple[int | None, str]:
    """Return the id and the user name of the signed-in user."""
    return (identity.user_id, identity.name) if identity else (None, "")


def pseudonym(request: Request, typed: str) -> str:
    """Return the name under which an unknown user name is logged: it may be a password in the wrong field.

    The same input gives the same pseudonym, which reveals nothing without the secret. It contains a space, so it cannot
    be a user name.
    """
    key = derive(request.registry["settings"].secrets[0], "security-log/v1")
    return f"(unknown {hmac.new(key, typed.encode(errors='replace'), 'sha256').hexdigest()[:6]})"


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
    """Write the events of a request that was answered with ``status``."""
    record_refusal(request)
    security_log = request.registry["security_log"]
    entries = [entry for entry in request.security_events if entry.event in REFUSALS or status < 400]
    entries += map(count_entry, security_log.omitted.pop(now()))
    if status == HTTPServiceUnavailable.code:
        write_lines(entries)  # the database does not answer: do not wait for it again
    elif entries:
        write(security_log, entries, remaining_time(request))


def record_refusal(request: Request) -> None:
    """Record the exception that was turned into the response, if it is a refusal."""
    refusal = getattr(request, "exception", None)
    if isinstance(refusal, BadCSRFToken):
        because = "token" if origin_is_ours(request) else "origin"
        record(request, Event.FORGED, because=because, method=request.method, path=_path(request))
    elif isinstance(refusal, HTTPForbidden):
        permission = getattr(refusal.result, "permission", "")
        record(request, Event.DENIED, permission=permission, method=request.method, path=_path(request))


def _path(request: Request) -> str:
    return "/" + "/".join(segments(request))
