"""The button that checks the links of one record."""

from pyramid.response import Response
from pyramid.view import view_config

from groundtransport.i18n import _
from groundtransport.jobs import queue
from groundtransport.links.checking import JOB
from groundtransport.records.flash import flash
from groundtransport.records.kind import label_of
from groundtransport.records.links import link_fields
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Record
from groundtransport.security import Permission


@view_config(context=Record, name="check-link", request_method="POST", permission=Permission.EDIT)
def check_link(context: Record, request: Request) -> Response:
    """Let a job check the links of a record, and return to the list."""
    kind, row = context.kind, context.row
    text = _("{} holds no link.")
    if any(getattr(row, name) for name in link_fields(kind)):
        queue.add(request.dbsession, JOB, {"kind": kind.name, "record_id": row.id}, created_by=request.user.name)
        text = _("The link of {} is being checked. Its details show the result in a moment.")
    values = {name: getattr(row, name) for name in kind.fields}
    flash(request, text, name=label_of(kind, values, row.id), url=list_url(request, kind, f"view={row.id}"))
    return see_other(list_url(request, kind, sent_query(request, kind).state()))
