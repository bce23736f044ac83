"""What pages of records show of link checks: request methods, because views of records must not import this package."""

from sqlalchemy import select

from groundtransport.i18n import _
from groundtransport.links.judging import REFUSED_FAILURE
from groundtransport.links.models import LinkCheck
from groundtransport.links.visiting import REDIRECTS, ROBOTS
from groundtransport.outgoing import Failure
from groundtransport.records.kind import Kind
from groundtransport.records.links import STATE_TITLES, LinkState, ShownCheck, link_fields
from groundtransport.records.model import RecordColumns
from groundtransport.request import Request

FAILURES = {
    Failure.URL: _("The address is not one of a web page"),
    Failure.ADDRESS: _("The address is not public"),
    Failure.NAME: _("The host has no address"),
    Failure.TLS: "",  # the state says it
    Failure.TIME: _("No answer in time"),
    Failure.CONNECTION: _("No connection"),
    ROBOTS: _("The site's robots.txt excludes programs"),
    REDIRECTS: _("The address redirects without end, or to no web page"),
    REFUSED_FAILURE: _("The site refuses programs"),
}


def link_checks(request: Request, kind: Kind, row: RecordColumns) -> list[ShownCheck]:
    """``request.link_checks(kind, row)``: return the links of a record with their results."""
    links = {name: getattr(row, name) for name in link_fields(kind) if getattr(row, name)}
    if not links:
        return []
    query = select(LinkCheck).where(LinkCheck.kind == kind.name, LinkCheck.record_id == row.id)
    checks = {check.field: check for check in request.dbsession.scalars(query) if check.url == links.get(check.field)}
    return [_shown(kind, name, checks.get(name)) for name in links]


def _shown(kind: Kind, name: str, check: LinkCheck | None) -> ShownCheck:
    state = LinkState(check.state) if check else LinkState.NEVER
    reason = FAILURES[check.failure] if check and check.failure else ""
    final_url = check.final_url if check else ""
    return ShownCheck(name, kind.fields[name].title, state, STATE_TITLES[state], reason, final_url, check)


def proposed_links(request: Request, kind: Kind, row: RecordColumns) -> dict[str, str]:
    """``request.proposed_links(kind, row)``: return the new URLs of links that lead to another site, by field."""
    checks = [shown for shown in request.link_checks(kind, row) if shown.is_moved]
    return {shown.field: shown.final_url for shown in checks}
