"""``/admin/security``: the security log, newest first, as a page and as CSV.

The pages are keyset pages, by the events' ids: new events do not shift them, and no count is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, or_, select

from groundtransport.accounts.users import normal_name
from groundtransport.audit.query import days, parse_day
from groundtransport.audit.views import CSV_MAX
from groundtransport.i18n import _
from groundtransport.records.list.query import only_once, read_page
from groundtransport.resources import Security
from groundtransport.security import Permission
from groundtransport.security_log.events import COMMAND_LINE, REFUSALS, Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.security_log.recording import record
from groundtransport.web.csv_download import csv_response, csv_text
from groundtransport.web.layout import ROLES

NAMES = ("event", "person", "address", "from", "to")
TITLES = {
    Event.SIGN_IN: _("Sign-in"),
    Event.SIGN_IN_FAILED: _("Sign-in failed"),
    Event.THROTTLED: _("Sign-in held back: too many tries"),
    Event.SIGN_OUT: _("Sign-out"),
    Event.SESSION_ENDED: _("Session ended"),
    Event.DENIED: _("Permission denied"),
    Event.BAD_EDIT_KEY: _("Bad edit link"),
    Event.FORGED: _("Foreign request refused"),
    Event.PASSWORD_CHANGED: _("Password changed"),
    Event.PASSWORD_RESET: _("Password reset"),
    Event.SECOND_FACTOR: _("Second factor changed"),
    Event.ROLE_CHANGED: _("Role changed"),
    Event.USER_ADDED: _("User added"),
    Event.USER_DISABLED: _("User disabled"),
    Event.USER_ENABLED: _("User enabled"),
    Event.EXPORT: _("Export"),
    Event.PRUNED: _("Old events removed"),
    Event.RESEALED: _("Signing key replaced"),
    Event.LEFT_OUT: _("Events left out: too many"),
}
# Titles of the details of events, which are stored in English: of their names, and of values from a fixed set.
WORDS: dict[str, str] = {
    **{str(role): text for role, text in ROLES.items()},
    COMMAND_LINE: _("command line"),
    "role": _("role"),
    "before": _("before"),
    "after": _("after"),
    "because": _("reason"),
    "what": _("what"),
    "session": _("session"),
    "second_factor": _("second factor"),
    "permission": _("permission"),
    "method": _("method"),
    "path": _("path"),
    "kind": _("kind"),
    "record": _("record"),
    "entries": _("entries"),
    "activity log": _("activity log"),
    "security log": _("security log"),
    "all": _("all"),
    "all others": _("all others"),
    "set up": _("set up"),
    "switched off": _("switched off"),
    "reset": _("reset"),
    "new recovery codes": _("new recovery codes"),
    "disabled": _("account disabled"),
    "second factor": _("second factor"),
    "asked again on the profile": _("password asked again on the profile"),
}
HEADER = ("number", "time (UTC)", "event", "person", "about", "address", "request", "details")


@dataclass(frozen=True)
class SecurityQuery:
    """A page of the security log. ``given`` holds the valid filters; ``before`` or ``after`` is an event's id."""

    page_size: int
    given: Mapping[str, str] = field(default_factory=dict)
    before: int | None = None
    after: int | None = None

    def state(self, **anchor: int) -> str:
        """Return the query string of the page with the anchor ``before`` or ``after``."""
        return urlencode({**self.given, "page_size": self.page_size, **anchor})


def read(params: Mapping[str, list[str]], default_size: int) -> SecurityQuery:
    """Return the query of URL parameters, given as lists of values; invalid parameters are ignored."""
    once = only_once(params)
    texts = {name: once.get(name, "").replace("\0", "").strip() for name in NAMES}
    texts["event"] = texts["event"] if texts["event"] in set(Event) else ""
    for name in ("from", "to"):
        texts[name] = texts[name] if parse_day(texts[name]) else ""
    given = {name: text for name, text in texts.items() if text}
    anchors = {name: _number(once.get(name, "")) for name in ("before", "after")}
    return SecurityQuery(read_page(params, default_size).page_size, given, **anchors)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def conditions(query: SecurityQuery) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses of a query. The filter ``person`` matches the event's name and its ``about``."""
    given, table = query.given, SecurityEvent
    clauses = days(table.at, given)
    if "event" in given:
        clauses.append(table.event == given["event"])
    if "person" in given:
        names = {given["person"], normal_name(given["person"])}
        clauses.append(or_(table.name.in_(names), table.about.in_(names)))
    if "address" in given:
        clauses.append(or_(table.address == given["address"], table.network == given["address"]))
    return clauses


@view_defaults(context=Security, request_method="GET", permission=Permission.SECURITY)
class SecurityViews:
    def __init__(self, context: Security, request: Request) -> None:
        self.request = request
        self.query = read(request.GET.dict_of_lists(), request.registry["settings"].page_size)

    @view_config(renderer="groundtransport:audit/templates/security.jinja2")
    def html(self) -> dict[str, Any]:
        events, newer, older = self._page()
        return {
            "events": events,
            "newer": self.query.state(after=events[0].id) if newer else "",
            "older": self.query.state(before=events[-1].id) if older else "",
            "query": self.query,
            "titles": TITLES,
            "words": WORDS,
            "refusals": REFUSALS,
            "csv_max": CSV_MAX,
            "is_cut": (newer or older) and self._is_cut(),
        }

    def _is_cut(self) -> bool:
        """Return True if the query matches more events than a CSV file holds."""
        beyond = select(SecurityEvent.id).where(*conditions(self.query)).order_by(SecurityEvent.id.desc())
        return self.request.dbsession.scalar(beyond.offset(CSV_MAX).limit(1)) is not None

    def _page(self) -> tuple[list[SecurityEvent], bool, bool]:
        """Return the events of the page, whether there are newer ones, and whether there are older ones."""
        query, number, size = self.query, SecurityEvent.id, self.query.page_size
        if query.after is not None:
            events = self._events(number > query.after, order=number.asc(), most=size + 1)
            if events:
                return events[:size][::-1], len(events) > size, True
        anchor = () if query.before is None else (number < query.before,)
        events = self._events(*anchor, order=number.desc(), most=size + 1)
        return events[:size], bool(events and anchor), len(events) > size

    def _events(self, *anchor: ColumnElement[bool], order: Any, most: int) -> list[SecurityEvent]:
        query = select(SecurityEvent).where(*conditions(self.query), *anchor).order_by(order).limit(most)
        return list(self.request.dbsession.scalars(query))

    @view_config(name="csv")
    def csv(self) -> Response:
        """Return the newest CSV_MAX events of the query as CSV."""
        events = self._events(order=SecurityEvent.id.desc(), most=CSV_MAX)
        record(self.request, Event.EXPORT, what="security log", entries=len(events))
        return csv_response("security.csv", csv_text(HEADER, map(cells, events)))


def cells(event: SecurityEvent) -> tuple[object, ...]:
    """Return an event as a row of HEADER."""
    details = ", ".join(f"{name}: {value}" for name, value in event.details.items())
    return event.id, event.at, event.event, event.name, event.about, event.address, event.request_id, details
