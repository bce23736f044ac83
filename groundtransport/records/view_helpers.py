"""What the views that write have in common."""

from dataclasses import replace
from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.request import Request

from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer
from groundtransport.web.actor import actor_of


def writer_of(request: Request, kind: Kind, batch: str = "") -> Writer:
    actor = replace(actor_of(request), batch=batch)
    return Writer(request.dbsession, request.registry.notify, kind, actor)


def flash(request: Request, text: str, **more: Any) -> None:
    """Keep a message for the next page; ``{}`` in it stands for ``name``, which links to ``href``.

    ``undo`` is an address of ours that takes the change back, by a form with ``fields``; ``record`` is the kind and
    the id of what was saved, which the list marks; ``lines`` are shown below the text; ``look_by`` asks the page to
    look for records that may be the same, by these fields or by all.
    """
    request.session.flash({"text": request.translate(text), **more})


def see_other(address: str) -> HTTPSeeOther:
    """Return the redirect after a save, with a body: else Pyramid makes one out of a template, by what is accepted."""
    return HTTPSeeOther(address, text="See Other", content_type="text/plain")
