"""Exception views of rejected writes: an invalid form (422), a stale CSRF token (400), a conflict (409)."""

from pyramid.exceptions import BadCSRFToken
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import exception_view_config
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.accounts.saved_forms import own_stamp
from groundtransport.i18n import _, person
from groundtransport.records.edit.conflict import Conflict, StaleDelete
from groundtransport.records.edit.create_views import CreateViews
from groundtransport.records.edit.delete_views import DELETE, DeleteViews
from groundtransport.records.edit.edit_views import EditViews
from groundtransport.records.edit.form_views import FORM
from groundtransport.records.edit.saved_forms import sent_token
from groundtransport.records.forms import CONFIRMED_CITY, ValidationFailure
from groundtransport.records.model import RecordColumns
from groundtransport.records.urls import list_url, review_state, sent_query
from groundtransport.request import Request
from groundtransport.resources import Collection, Record
from groundtransport.security import origin_is_ours
from groundtransport.web.errors import error, http_error, last_resort, prefers_json, problem
from groundtransport.web.form_data import submitted

STALE_TOKEN = _("You have signed in anew since this form was opened. Nothing was saved yet: save it again.")
STALE = _("Somebody changed this record in the meantime.")
STALE_WRITE = _("Somebody changed this record in the meantime. Look at it again; nothing of yours was saved.")
TAKEN = _("Another record has got this source and source ID in the meantime; nothing of yours was saved.")
UNIQUE_VIOLATION = "23505"  # PostgreSQL's SQLSTATE
CONFLICT = "groundtransport:records/templates/conflict.jinja2"


def page(template: str, values: dict[str, object], request: Request, status: int) -> Response:
    """Return the rendered template with a status."""
    response = render_to_response(template, values, request=request)
    response.status_int = status
    return response


def current(request: Request, row: RecordColumns) -> dict[str, object]:
    """Return the current values and version of a record, for a JSON answer."""
    return {name: getattr(row, name) for name in (*request.context.kind.fields, "version")}


def last_change(request: Request, row: RecordColumns) -> dict[str, str]:
    """Return who changed a record last, and when, for a JSON answer; nothing if the log does not hold it."""
    last = request.last_change(request.context.kind, row)
    return {"changed_by": person(last.actor), "changed_at": last.at.isoformat(timespec="milliseconds")} if last else {}


@exception_view_config(ValidationFailure)
def validation_failed(failure: ValidationFailure, request: Request) -> Response:
    """422: render the form with the typed texts and the errors; a JSON client gets the errors by field."""
    if prefers_json(request):
        return problem(request, 422, _("The record is not valid."), errors=failure.errors)
    views = EditViews if isinstance(request.context, Record) else CreateViews
    state = sent_query(request, failure.form.kind).state()
    values = views(request.context, request).page_again(failure.form, state, saved_form=sent_token(request))
    return page(FORM, values, request, 422)


@exception_view_config(BadCSRFToken)
def stale_token(exception: BadCSRFToken, request: Request) -> Response:
    """400: render a form that was opened in an earlier session, with the typed texts; else the error page."""
    views = {Collection: CreateViews, Record: EditViews}
    view = next((view for context, view in views.items() if isinstance(request.context, context)), None)
    is_form = view and not request.view_name and request.method in ("POST", "PUT")
    if not (view and is_form and origin_is_ours(request)) or prefers_json(request):
        return http_error(exception, request)
    page_of, state = view(request.context, request), sent_query(request, request.context.kind).state()
    values = page_of.page_again(page_of.form(), state, notice=STALE_TOKEN, saved_form=sent_token(request))
    return page(FORM, values, request, 400)


@exception_view_config(Conflict)
def conflict(exception: Conflict, request: Request) -> Response:
    """409: render the conflicting fields with mine, theirs and before; a JSON client gets the current values."""
    row, kind, merge = exception.row, request.context.kind, exception.merge
    if prefers_json(request):
        return problem(request, 409, STALE, current=current(request, row), **last_change(request, row))
    views, state = EditViews(request.context, request), sent_query(request, kind).state()
    clashing = {clash.name for clash in merge.clashes}
    now = views.writer.values(row)
    values = {
        "kind": kind,
        "label": views.label,
        "clashes": merge.clashes,
        "has_before": any(clash.before != clash.theirs for clash in merge.clashes) and merge.knows_before,
        "merged": [
            (kind.fields[name], value, name in merge.only_theirs)
            for name, value in merge.values.items()
            if name not in clashing and (name in merge.only_theirs or value != now[name])
        ],
        "settled": [
            (name, kind.fields[name].text(value)) for name, value in merge.values.items() if name not in clashing
        ],
        "confirmed_city": submitted(request, (CONFIRMED_CITY,)).get(CONFIRMED_CITY, ""),
        "version": row.version,
        "state": state,
        "action": request.context_path(request.context),
        "form_url": views.form_url(state),
        "back": list_url(request, kind, state),
        "review": review_state(request),
        "last": request.last_change(kind, row),
        "owner": own_stamp(request),
    }
    return page(CONFLICT, values, request, 409)


@exception_view_config(StaleDelete)
def stale_delete(exception: StaleDelete, request: Request) -> Response:
    """409: render the confirmation again, with the current record."""
    if prefers_json(request):
        return problem(request, 409, STALE, current=current(request, exception.row))
    state = sent_query(request, request.context.kind).state()
    values = DeleteViews(request.context, request).page(state)
    return page(DELETE, {**values, "notice": STALE}, request, 409)


@exception_view_config(IntegrityError)
def unique_violation(exception: IntegrityError, request: Request) -> Response:
    """409: a unique index refused a write that the checks before it allowed, because another request was first."""
    is_unique = getattr(exception.orig, "sqlstate", "") == UNIQUE_VIOLATION or "UNIQUE" in str(exception.orig)
    return error(request, 409, TAKEN) if is_unique else last_resort(exception, request)


@exception_view_config(StaleDataError)
def stale(exception: StaleDataError, request: Request) -> Response:
    """409: another request changed the record at the same time."""
    return error(request, 409, STALE_WRITE)
