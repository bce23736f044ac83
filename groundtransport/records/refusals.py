"""The two answers to a write that was refused: what was typed is no record (422), or it is stale (409)."""

from typing import Any

from pyramid.renderers import render_to_response
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import exception_view_config
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.records.conflict import Conflict
from groundtransport.records.forms import RecordForm, ValidationFailure
from groundtransport.records.links import sent_query
from groundtransport.records.views import FORM, CreateViews, DeleteViews, EditViews
from groundtransport.resources import Record
from groundtransport.web.errors import error, prefers_json, problem

STALE = "Somebody changed this record in the meantime."


def _again(request: Request, form: RecordForm, status: int, **values: Any) -> Response:
    """Return the form once more, with everything typed."""
    views = EditViews if isinstance(request.context, Record) else CreateViews
    page = views(request.context, request).page(form, sent_query(request, form.kind).state())
    response = render_to_response(FORM, {**page, **values}, request=request)
    response.status_int = status
    return response


@exception_view_config(ValidationFailure)
def validation_failed(failure: ValidationFailure, request: Request) -> Response:
    if prefers_json(request):
        return problem(request, 422, "The record is not valid.", errors=failure.errors)
    return _again(request, failure.form, 422)


@exception_view_config(Conflict)
def conflict(exception: Conflict, request: Request) -> Response:
    """409: the current values for a program, for a person the form as typed, beside what stands there now."""
    kind, row = request.context.kind, exception.row
    current = {name: getattr(row, name) for name in (*kind.fields, "version")}
    if prefers_json(request):
        return problem(request, 409, STALE, current=current)
    if isinstance(exception.page, DeleteViews):
        values = exception.page.page(sent_query(request, kind).state())
        response = render_to_response(
            "groundtransport:records/templates/delete.jinja2", {**values, "notice": STALE}, request=request
        )
        response.status_int = 409
        return response
    form = exception.page
    different = [
        (node, current[name]) for name, node in kind.fields.items() if form.typed.get(name, "") != (current[name] or "")
    ]
    return _again(request, form, 409, theirs=different)


@exception_view_config(StaleDataError)
def stale(exception: StaleDataError, request: Request) -> Response:
    return error(request, 409, STALE)
