"""Errors as answers: a page in the layout, or problem details (RFC 9457) for who prefers JSON. Never a trace."""

import logging
from http import HTTPStatus
from typing import Any

from pyramid.exceptions import BadCSRFToken
from pyramid.httpexceptions import HTTPException, HTTPForbidden, HTTPMethodNotAllowed, HTTPNotFound, HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import exception_view_config, forbidden_view_config, notfound_view_config
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, TimeoutError

from groundtransport.db.commit_outcome import may_be_stored
from groundtransport.i18n import _
from groundtransport.web.urls import sign_in_url
from groundtransport.web.view_methods import view_methods

log = logging.getLogger(__name__)

HTML, JSON, PROBLEM = "text/html", "application/json", "application/problem+json"
RETRY_AFTER = 5  # seconds

# On a page for people; a program gets the phrase of the standard.
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
# In place of those, when it may have been stored.
UNKNOWN = {
    500: _("Something went wrong on our side. Your change may have been saved: look before you make it again."),
    503: _(
        "The database did not answer in time. It is not known whether your change was saved: look before you make it "
        "again."
    ),
}


def prefers_json(request: Request) -> bool:
    """Whether ``Accept`` ranks JSON above HTML. ``X-Requested-With`` decides nothing."""
    offers = request.accept.acceptable_offers([HTML, JSON, PROBLEM])
    return bool(offers) and offers[0][0] != HTML


def problem(request: Request, status: int, detail: str, **members: Any) -> Response:
    """Return problem details (RFC 9457) with the request's id as ``instance``."""
    told = request.translate(detail)
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": told}
    response = Response(status=status, json_body={**body, "instance": f"urn:request:{request.id}", **members})
    response.content_type = PROBLEM
    return response


def error(request: Request, status: int, detail: str = "") -> Response:
    """Return the answer to an error in the form that the client prefers."""
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
    if exception.status_int < 400:
        return exception
    # Pyramid's words for a bad token are for programmers.
    detail = "" if isinstance(exception, BadCSRFToken) else exception.detail or ""
    return error(request, exception.status_int, detail)


@notfound_view_config()
def not_found(exception: HTTPNotFound, request: Request) -> Response:
    """404, or 405 where the address exists and only the method is wrong."""
    allowed = allowed_methods(request)
    if allowed and request.method not in allowed:
        response = error(request, HTTPMethodNotAllowed.code)
        response.headers["Allow"] = ", ".join(sorted(allowed))
        return response
    return error(request, 404)


def allowed_methods(request: Request) -> set[str]:
    """Return the methods that the views of this context and name answer; none where there is no such view."""
    context, name = getattr(request, "context", None), getattr(request, "view_name", None)
    if context is None or name is None or request.subpath:
        return set()
    return view_methods(request.registry, type(context), name)


@forbidden_view_config()
def forbidden(exception: HTTPForbidden, request: Request) -> Response:
    """To the sign-in page, which says what is missing."""
    permission = getattr(exception.result, "permission", "")  # a Denied is falsy: ask for its attribute only
    return HTTPSeeOther(sign_in_url(request, missing=str(permission)))


@exception_view_config(OperationalError)
@exception_view_config(InterfaceError)
@exception_view_config(TimeoutError)
def database_away(exception: Exception, request: Request) -> Response:
    log.error("request %s: database: %s", request.id, exception)
    response = _after(exception, request, 503)
    response.headers["Retry-After"] = str(RETRY_AFTER)
    return response


@exception_view_config(DBAPIError)
def database_error(exception: DBAPIError, request: Request) -> Response:
    """503 when the connection was lost or thrown away by it, as that of a server that only reads; else 500."""
    return (database_away if exception.connection_invalidated else last_resort)(exception, request)


@exception_view_config(Exception)
def last_resort(exception: Exception, request: Request) -> Response:
    log.error("request %s failed", request.id, exc_info=exception)
    return _after(exception, request, 500)


def _after(exception: Exception, request: Request, status: int) -> Response:
    """Return the answer to an error; one that says more than "nothing was changed" where that may not be true."""
    if not may_be_stored(vars(request).get("dbsession"), exception):
        return error(request, status)
    if prefers_json(request):
        request.session.take_back_messages()
        return problem(request, status, UNKNOWN[status], outcome="unknown")
    return error(request, status, UNKNOWN[status])
