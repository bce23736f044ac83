"""``request.dbsession`` and the transaction of a request (pyramid_tm)."""

from collections.abc import Callable
from contextlib import suppress

import pyramid_tm
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from transaction.interfaces import NoTransaction

from groundtransport.db.engine import read_engine
from groundtransport.db.replica import Replica
from groundtransport.db.session import make_session

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
Handler = Callable[[Request], Response]


def is_write(request: Request) -> bool:
    """Return True if the request may write; other requests have no transaction to commit."""
    return request.method not in SAFE_METHODS


def is_leader_away(request: Request) -> bool:
    """``request.is_leader_away``: True if the request only reads, and reads from the replica for want of the leader."""
    replica: Replica | None = request.registry["replica"]
    return replica is not None and not is_write(request) and replica.is_leader_away()


def dbsession(request: Request) -> Session:
    """Return a new session for a request, closed when the request ends: ``request.dbsession``."""
    engine = request.registry["engine"]
    if is_write(request):
        session = make_session(engine, request.tm)
    elif request.is_leader_away:
        session = Session(request.registry["replica"].engine)
    else:
        session = Session(read_engine(engine))
    session.info["deadline"] = request.began + request.registry["settings"].request_budget
    request.add_finished_callback(lambda _: _close(session))
    return session


def _close(session: Session) -> None:
    """Close a session whose request has its response, also if the connection is lost: a write was committed before.

    Behind PgBouncer reads are in a transaction, which ends with a ROLLBACK here. Its error would replace the response.
    """
    with suppress(DBAPIError):
        session.close()


def veto(request: Request, response: Response) -> bool:
    """Return True to roll the transaction back: for every 4xx and 5xx response.

    pyramid_tm calls the veto before it marks an error as retryable, and after a veto it does not mark it any more: so
    it is marked here.
    """
    _mark_retryable(request)
    return bool(pyramid_tm.default_commit_veto(request, response))


def tween(handler: Handler, registry: Registry) -> Handler:
    """Abort a transaction whose commit failed, directly over pyramid_tm, which leaves it open with its locks.

    An error of the commit is marked as retryable too; pyramid_tm marks only errors of the view.
    """

    def abort_failed_commit(request: Request) -> Response:
        response = handler(request)
        if is_write(request):
            with suppress(NoTransaction):
                _mark_retryable(request)
                request.tm.abort()
        return response

    return abort_failed_commit


def _mark_retryable(request: Request) -> None:
    """Mark the request's exception for pyramid_retry if another attempt may succeed."""
    if getattr(request, "exc_info", None) is not None:
        pyramid_tm.maybe_tag_retryable(request, request.exc_info)
