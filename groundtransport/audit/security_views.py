"""``/admin/security``: the security log, newest first, as a page.

The pages are keyset pages, by the events' ids: new events do not shift them, and no count is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement, or_, select

from groundtransport.accounts.users import normal_name
from groundtransport.audit.query import days, filter_values
from groundtransport.i18n import _
from groundtransport.records.list.query import read_page, single_values
from groundtransport.request import Request
from groundtransport.resources import Security
from groundtransport.security import Permission
from groundtransport.security_log.events import COMMAND_LINE, REFUSALS, Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.text import parse_number
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
    Event.TOKEN_CREATED: _("API token created"),
    Event.TOKEN_REVOKED: _("API token revoked"),
    Event.TOKEN_REFUSED: _("API token refused"),
    Event.WEBHOOK_CREATED: _("Webhook created"),
    Event.WEBHOOK_CHANGED: _("Webhook changed"),
    Event.WEBHOOK_SECRET: _("Secret of a webhook replaced"),
    Event.EXPORT: _("Export"),
    Event.IMPORT: _("Import"),
    Event.VIEW: _("View for all"),
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
    "token": _("token"),
    "service account": _("service account"),
    "webhook": _("webhook"),
    "host": _("host"),
    "view": _("view"),
    "saved": _("saved"),
    "renamed": _("renamed"),
    "replaced": _("replaced"),
    "restored": _("restored"),
    "deleted": _("deleted"),
    "changed": _("changed"),
    "removed": _("removed"),
    "switched on": _("switched on"),
    "malformed": _("malformed"),
    "unknown": _("unknown"),
    "expired": _("expired"),
    "revoked": _("revoked"),
    "network": _("network"),
    "rate": _("too many requests"),
    "activity log": _("activity log"),
    "format": _("format"),
    "filter": _("filter"),
    "rows": _("rows"),
    "end": _("end"),
    "not complete": _("not complete"),
    "security log": _("security log"),
    "all": _("all"),
    "all others": _("all others"),
    "set up": _("set up"),
    "switched off": _("switched off"),
    "gone": _("The receiver wants no more messages (410)."),
    "failed": _("Its receiver has accepted no message for three days."),
    "reset": _("reset"),
    "new recovery codes": _("new recovery codes"),
    "disabled": _("account disabled"),
    "second factor": _("second factor"),
    "asked again on the profile": _("password asked again on the profile"),
}


@dataclass(frozen=True)
class SecurityQuery:
    """A page of the security log. ``filters`` holds the valid ones; ``before`` or ``after`` is an event's id."""

    page_size: int
    filters: Mapping[str, str] = field(default_factory=dict)
    before: int | None = None
    after: int | None = None

    def state(self, **anchor: int) -> str:
        """Return the query string of the page with the anchor ``before`` or ``after``."""
        return urlencode({**self.filters, "page_size": self.page_size, **anchor})


def read(params: Mapping[str, list[str]], default_size: int) -> SecurityQuery:
    """Return the query of URL parameters, given as lists of values; invalid parameters are ignored."""
    once, values = single_values(params), filter_values(params, NAMES)
    values["event"] = values["event"] if values["event"] in set(Event) else ""
    filters = {name: value for name, value in values.items() if value}
    anchors = {name: parse_number(once.get(name, "")) for name in ("before", "after")}
    return SecurityQuery(read_page(params, default_size).page_size, filters, **anchors)


def conditions(query: SecurityQuery) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses of a query. The filter ``person`` matches the event's name and its ``about``."""
    filters, table = query.filters, SecurityEvent
    clauses = days(table.at, filters)
    if "event" in filters:
        clauses.append(table.event == filters["event"])
    if "person" in filters:
        names = {filters["person"], normal_name(filters["person"])}
        clauses.append(or_(table.name.in_(names), table.about.in_(names)))
    if "address" in filters:
        clauses.append(or_(table.address == filters["address"], table.network == filters["address"]))
    return clauses


@view_defaults(context=Security, request_method="GET", permission=Permission.SECURITY)
class SecurityViews:
    """The page of the security log."""

    def __init__(self, context: Security, request: Request) -> None:
        self.request = request
        self.query = read(request.GET.dict_of_lists(), request.registry["settings"].page_size)

    @view_config(renderer="groundtransport:audit/templates/security.jinja2")
    def html(self) -> dict[str, object]:
        """Render a page of events with the filters."""
        events, newer, older = self._page()
        return {
            "events": events,
            "newer": self.query.state(after=events[0].id) if newer else "",
            "older": self.query.state(before=events[-1].id) if older else "",
            "query": self.query,
            "titles": TITLES,
            "words": WORDS,
            "refusals": REFUSALS,
        }

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

    def _events(self, *anchor: ColumnElement[bool], order: ColumnElement[int], most: int) -> list[SecurityEvent]:
        query = select(SecurityEvent).where(*conditions(self.query), *anchor).order_by(order).limit(most)
        return list(self.request.dbsession.scalars(query))
