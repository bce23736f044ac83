"""Shared by the views that write: the writer of a request, and the redirect after a save."""

from dataclasses import replace

from pyramid.httpexceptions import HTTPSeeOther

from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer
from groundtransport.request import Request
from groundtransport.web.actor import actor_of


def writer_of(request: Request, kind: Kind, batch: str = "") -> Writer:
    """Return a writer of the request's session and user; ``batch`` names the bulk action in the activity log."""
    actor = replace(actor_of(request), batch=batch)
    return Writer(request.dbsession, request.registry.notify, kind, actor)


def see_other(url: str) -> HTTPSeeOther:
    """Return the redirect after a save. It has a body, so that Pyramid does not render one by the Accept header."""
    return HTTPSeeOther(url, text="See Other", content_type="text/plain")
