"""Errors of the API, raised as an exception and answered as problem details (RFC 9457)."""

from collections.abc import Mapping

from pyramid.response import Response
from pyramid.view import exception_view_config
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import API_ROUTE
from groundtransport.web.errors import last_resort, problem

INVALID = _("The request is not valid.")
TAKEN = _("Another record has this source and source ID, or another request was first.")
CHANGED = _("Somebody changed this record in the meantime. Nothing was changed by this request.")


class ApiProblem(Exception):
    """A request is refused. ``members`` are further members of the problem details, ``headers`` of the response."""

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: object
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.members = status, detail, dict(headers or {}), members


class InvalidFields(ApiProblem):
    """Fields or parameters are invalid: 422. ``errors`` maps each name to its messages, to be translated."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__(422, INVALID)
        self.errors = errors


@exception_view_config(ApiProblem, route_name=API_ROUTE)
def refused(exception: ApiProblem, request: Request) -> Response:
    """Return the problem details of a refused request."""
    response = problem(request, exception.status, exception.detail, **exception.members)
    response.headers.update(exception.headers)
    return response


@exception_view_config(InvalidFields, route_name=API_ROUTE)
def invalid(exception: InvalidFields, request: Request) -> Response:
    """Return a 422 with the translated messages by field."""
    errors = {name: [request.translate(text) for text in texts] for name, texts in exception.errors.items()}
    return problem(request, 422, exception.detail, errors=errors)


@exception_view_config(StaleDataError, route_name=API_ROUTE)
def changed(exception: StaleDataError, request: Request) -> Response:
    """Return a 412: another request changed the record at the same time."""
    return problem(request, 412, CHANGED)


@exception_view_config(IntegrityError, route_name=API_ROUTE)
def taken(exception: IntegrityError, request: Request) -> Response:
    """Return a 409 if a unique index refused a write."""
    is_unique = getattr(exception.orig, "sqlstate", "") == "23505" or "UNIQUE" in str(exception.orig)
    return problem(request, 409, TAKEN) if is_unique else last_resort(exception, request)
