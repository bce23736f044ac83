"""``/admin/security``: the security log, newest first, as a page and as CSV. Read only.

It is paged by the number of an event, not by counting: events arrive while one reads, and nobody waits for a count.
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
from groundtransport.audit.query import day, days
from groundtransport.audit.views import CSV_MAX, csv_of, csv_response
from groundtransport.i18n import _
from groundtransport.records.list.query import only_once, read_page
from groundtransport.resources import Security
from groundtransport.security import Permission
from groundtransport.security_log.events import COMMAND_LINE, REFUSALS, Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.security_log.recording import record
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
# The details of events, which are stored in English: their names, and such values as are words.
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
    """``given`` holds the filters that make sense; ``before`` or ``after`` names the event where the page begins."""

    page_size: int
    given: Mapping[str, str] = field(default_factory=dict)
    before: int | None = None
    after: int | None = None

    def state(self, **place: int) -> str:
        """Return the query string of another page of the same query."""
        return urlencode({**self.given, "page_size": self.page_size, **place})


def read(sent: Mapping[str, list[str]], default_size: int) -> SecurityQuery:
    """Return the query of an address; what makes no sense is left out."""
    once = only_once(sent)
    texts = {name: once.get(name, "").replace("\0", "").strip() for name in NAMES}
    texts["event"] = texts["event"] if texts["event"] in set(Event) else ""
    for name in ("from", "to"):
        texts[name] = texts[name] if day(texts[name]) else ""
    given = {name: text for name, text in texts.items() if text}
    places = {name: _number(once.get(name, "")) for name in ("before", "after")}
    return SecurityQuery(read_page(sent, default_size).page_size, given, **places)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def conditions(query: SecurityQuery) -> list[ColumnElement[bool]]:
    """Return what an event must fulfil, all of it. A person is who did it, or whom it was done to."""
    given, table = query.given, SecurityEvent
    found = days(table.at, given)
    if "event" in given:
        found.append(table.event == given["event"])
    if "person" in given:
        names = {given["person"], normal_name(given["person"])}
        found.append(or_(table.name.in_(names), table.about.in_(names)))
    if "address" in given:
        found.append(or_(table.address == given["address"], table.network == given["address"]))
    return found


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
        """Return whether the query finds more than a file holds; the events beyond are not counted."""
        beyond = select(SecurityEvent.id).where(*conditions(self.query)).order_by(SecurityEvent.id.desc())
        return self.request.dbsession.scalar(beyond.offset(CSV_MAX).limit(1)) is not None

    def _page(self) -> tuple[list[SecurityEvent], bool, bool]:
        """Return the events of the page, and whether there are newer and older ones."""
        query, number, size = self.query, SecurityEvent.id, self.query.page_size
        if query.after is not None:
            found = self._events(number > query.after, order=number.asc(), most=size + 1)
            if found:
                return found[:size][::-1], len(found) > size, True
        place = () if query.before is None else (number < query.before,)
        found = self._events(*place, order=number.desc(), most=size + 1)
        return found[:size], bool(found and place), len(found) > size

    def _events(self, *place: ColumnElement[bool], order: Any, most: int) -> list[SecurityEvent]:
        wanted = select(SecurityEvent).where(*conditions(self.query), *place).order_by(order).limit(most)
        return list(self.request.dbsession.scalars(wanted))

    @view_config(name="csv")
    def csv(self) -> Response:
        """The events of the query as a file, the newest first."""
        found = self._events(order=SecurityEvent.id.desc(), most=CSV_MAX)
        record(self.request, Event.EXPORT, what="security log", entries=len(found))
        return csv_response("security.csv", csv_of(HEADER, map(cells, found)))


def cells(event: SecurityEvent) -> tuple[object, ...]:
    details = ", ".join(f"{name}: {value}" for name, value in event.details.items())
    return event.id, event.at, event.event, event.name, event.about, event.address, event.request_id, details
