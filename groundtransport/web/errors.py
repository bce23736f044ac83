"""Error responses: an HTML page, or problem details (RFC 9457) for clients that prefer JSON. Never a traceback."""

import logging
from http import HTTPStatus

from pyramid.exceptions import BadCSRFToken
from pyramid.httpexceptions import HTTPException, HTTPForbidden, HTTPMethodNotAllowed, HTTPNotFound, HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import exception_view_config, forbidden_view_config, notfound_view_config
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, TimeoutError

from groundtransport.db.commit_outcome import OutcomeUnknown, may_be_stored
from groundtransport.db.postgresql import is_read_only
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.security import Permission, TokenDenied, is_api, is_public
from groundtransport.web.layout import DENIAL, DENIALS
from groundtransport.web.urls import sign_in_url
from groundtransport.web.view_methods import view_methods

log = logging.getLogger(__name__)

HTML, JSON, PROBLEM = "text/html", "application/json", "application/problem+json"
RETRY_AFTER = 5  # seconds
UNAVAILABLE = "groundtransport.unavailable"  # key in the WSGI environ: the reason of a 503

# Titles of error pages; problem details use the phrase of the HTTP standard.
TITLES = {
    400: _("Not understood"),
    404: _("Nothing here"),
    405: _("Not to be done here"),
    409: _("Changed in the meantime"),
    413: _("Too large"),
    415: _("Not understood"),
    422: _("Not possible"),
    429: _("Too many tries"),
    500: _("Something went wrong"),
    503: _("Not available just now"),
}
MESSAGES = {
    400: _(
        "The request could not be understood. Go back: what you typed is still in the form. Then load the page anew."
    ),
    404: _("There is nothing at this address. The record may have been deleted."),
    405: _("This address does not answer to that method."),
    413: _("What was sent is too large."),
    500: _("Something went wrong on our side. Nothing was changed."),
    503: _("The database cannot be reached just now. Nothing was changed. Please try again in a moment."),
}
TOKEN_DENIAL = _("This token does not permit that: it is read only, or limited to other kinds of record.")
# Messages used instead if the change may be stored.
UNKNOWN = {
    500: _("Something went wrong on our side. Your change may have been saved: look before you make it again."),
    503: _(
        "The database did not answer in time. It is not known whether your change was saved: look before you make it "
        "again."
    ),
}


def prefers_json(request: Request) -> bool:
    """Return True below ``/api`` and ``/public``, or if ``Accept`` ranks JSON above HTML."""
    if is_api(request) or is_public(request):
        return True
    offers = request.accept.acceptable_offers([HTML, JSON, PROBLEM])
    return bool(offers) and offers[0][0] != HTML


def problem(request: Request, status: int, detail: str, **members: object) -> Response:
    """Return problem details (RFC 9457) with the request id as ``instance`` and ``members`` as further members."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": request.translate(detail),
    }
    response = Response(status=status, json_body={**body, "instance": f"urn:request:{request.id}", **members})
    response.content_type = PROBLEM
    return response


def error(request: Request, status: int, detail: str = "") -> Response:
    """Return an error response in the format that the client prefers; ``detail`` defaults to the status's message."""
    request.session.take_back_messages()
    detail = request.translate(detail or MESSAGES.get(status, HTTPStatus(status).phrase))
    if prefers_json(request):
        return problem(request, status, detail)
    values = {"status": status, "title": TITLES.get(status, HTTPStatus(status).phrase), "detail": detail}
    response = render_to_response("error.jinja2", values, request=request)
    response.status_int = status
    return response


@exception_view_config(HTTPException)
def http_error(exception: HTTPException, request: Request) -> Response:
    """Return an error response for a raised HTTP exception; a redirect is returned as it is."""
    if exception.status_int < 400:
        return exception
    # Pyramid's message for a bad CSRF token is written for programmers.
    detail = "" if isinstance(exception, BadCSRFToken) else exception.detail or ""
    return error(request, exception.status_int, detail)


@notfound_view_config()
def not_found(exception: HTTPNotFound, request: Request) -> Response:
    """Return a 404; a 405 if the URL has a view for another method."""
    allowed = allowed_methods(request)
    if allowed and request.method not in allowed:
        response = error(request, HTTPMethodNotAllowed.code)
        response.headers["Allow"] = ", ".join(sorted(allowed))
        return response
    return error(request, 404)


def allowed_methods(request: Request) -> set[str]:
    """Return the methods of the views of the request's context and view name; an empty set without such a view."""
    context, name = getattr(request, "context", None), getattr(request, "view_name", None)
    if context is None or name is None or request.subpath:
        return set()
    route = getattr(request, "matched_route", None)
    return view_methods(request.registry, type(context), name, route.name if route else None)


@forbidden_view_config()
def forbidden(exception: HTTPForbidden, request: Request) -> Response:
    """Redirect to the sign-in page, which names the missing permission; a 403 below ``/api``."""
    permission = getattr(exception.result, "permission", "")  # a Denied is falsy, so do not test it
    if is_api(request):
        return problem(request, 403, denial_of(exception))
    return HTTPSeeOther(sign_in_url(request, missing=str(permission)))


def denial_of(exception: HTTPForbidden) -> str:
    """Return the message for a missing permission."""
    if isinstance(exception.result, TokenDenied):
        return TOKEN_DENIAL
    permission = getattr(exception.result, "permission", "")
    return DENIALS[Permission(permission)] if permission in set(Permission) else DENIAL


@exception_view_config(OperationalError)
@exception_view_config(InterfaceError)
@exception_view_config(TimeoutError)
def database_away(exception: Exception, request: Request) -> Response:
    """Return a 503 with Retry-After: the database does not answer."""
    log.error("request %s: database error: %s", request.id, exception)
    request.environ[UNAVAILABLE] = _why_unavailable(exception)
    response = _error_after_write(exception, request, 503)
    response.headers["Retry-After"] = str(RETRY_AFTER)
    return response


def _why_unavailable(exception: Exception) -> str:
    """Return the reason of a 503 for the metrics."""
    if isinstance(exception, TimeoutError):
        return "pool"  # no connection became free in time
    if isinstance(exception, OutcomeUnknown):
        return "outcome_unknown"
    return "read_only" if is_read_only(getattr(exception, "orig", None)) else "database"


@exception_view_config(DBAPIError)
def database_error(exception: DBAPIError, request: Request) -> Response:
    """Return a 503 if the error ended the connection, as a lost server or a read-only one does; else a 500."""
    return (database_away if exception.connection_invalidated else last_resort)(exception, request)


@exception_view_config(Exception)
def last_resort(exception: Exception, request: Request) -> Response:
    """Log an unexpected exception and return a 500."""
    log.error("request %s failed", request.id, exc_info=exception)
    return _error_after_write(exception, request, 500)


def _error_after_write(exception: Exception, request: Request, status: int) -> Response:
    """Return an error response that says whether the change may be stored."""
    if not may_be_stored(vars(request).get("dbsession"), exception):
        return error(request, status)
    if prefers_json(request):
        request.session.take_back_messages()
        return problem(request, status, UNKNOWN[status], outcome="unknown")
    return error(request, status, UNKNOWN[status])
