"""The two tweens that store the session of a request: within its transaction if that commits, else after it."""

import logging
from collections.abc import Callable

from pyramid.httpexceptions import HTTPServiceUnavailable
from pyramid.response import Response
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.db import is_write
from groundtransport.request import Registry, Request

log = logging.getLogger(__name__)


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """Return the tween that stores the session after the request's transaction has ended."""

    def save_session(request: Request) -> Response:
        response = handler(request)
        if response.status_int == HTTPServiceUnavailable.code:
            return response  # the database is in trouble: no second wait for it
        if "session" not in vars(request):
            return response  # nobody used it, as below /api
        try:
            request.session.save(response)
        except SQLAlchemyError:
            # The request's own change is committed: only a message is lost, unless somebody signs in or out.
            if request.session.is_essential:
                raise
            log.warning("request %s: the session was not written", request.id, exc_info=True)
        return response

    return save_session


def tween_within(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """Return the tween under pyramid_tm's that stores the session in the request's transaction, if that will commit."""

    def save_session_too(request: Request) -> Response:
        response = handler(request)
        if is_write(request) and response.status_int < 400 and "dbsession" in vars(request):
            request.session.save_with(request.dbsession)
        return response

    return save_session_too
