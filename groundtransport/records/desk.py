"""What the views that write have in common."""

from typing import Any

from pyramid.request import Request

from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer
from groundtransport.web.actor import actor_of


def writer_of(request: Request, kind: Kind) -> Writer:
    return Writer(request.dbsession, request.registry.notify, kind, actor_of(request))


def say(request: Request, text: str, **more: Any) -> None:
    """Keep a message for the next page; ``{}`` in it stands for ``name``, which links to ``href``.

    ``undo`` is an address of ours that takes the change back, by a form with ``fields``.
    """
    request.session.flash({"text": text, **more})
