"""Where the pages of a merged record lead: to its survivor."""

from pyramid.httpexceptions import HTTPNotFound
from pyramid.response import Response
from pyramid.view import view_config

from groundtransport.i18n import _
from groundtransport.records.flash import flash
from groundtransport.records.sources import survivor_of
from groundtransport.records.urls import edit_url, list_url
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import MergedRecord
from groundtransport.security import Permission


def survivor_id(context: MergedRecord, request: Request) -> int:
    """Return the id of the live record that stands for a merged one. Raise HTTPNotFound if it was deleted."""
    number = survivor_of(request.dbsession, context.kind, context.row.merged_into)
    if number is None:
        raise HTTPNotFound
    return number


@view_config(context=MergedRecord, request_method="GET", permission=Permission.VIEW)
def detail(context: MergedRecord, request: Request) -> Response:
    """Redirect to the survivor's details, a part of a page, which shows no message."""
    return see_other(f"/admin/{context.kind.name}/{survivor_id(context, request)}")


@view_config(context=MergedRecord, name="merge", request_method="GET", permission=Permission.VIEW)
@view_config(context=MergedRecord, name="delete", request_method="GET", permission=Permission.VIEW)
def other_pages(context: MergedRecord, request: Request) -> Response:
    """Redirect to the survivor's details over the list."""
    number = survivor_id(context, request)
    _tell(context, request)
    return see_other(list_url(request, context.kind, f"view={number}"))


@view_config(context=MergedRecord, name="edit", request_method="GET", permission=Permission.EDIT)
def edit(context: MergedRecord, request: Request) -> Response:
    """Redirect to the survivor's form."""
    number = survivor_id(context, request)
    _tell(context, request)
    return see_other(edit_url(request, context.kind, number, ""))


def _tell(context: MergedRecord, request: Request) -> None:
    text = _("Record ${id} was merged into this one.", mapping={"id": str(context.row.id)})
    flash(request, text, level="warning")
