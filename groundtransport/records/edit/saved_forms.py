"""Show a saved form to its user after the next sign-in (accounts/saved_forms.py stores it).

The sign-in leads to the list of a kind, the tween from there to ``/admin/<kind>/kept``, and that to the record's form
with ``?kept=TOKEN``, which shows the saved texts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.response import Response
from pyramid.view import view_config

from groundtransport.accounts import saved_forms
from groundtransport.accounts.models import SavedForm
from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import parse_int, query_from_state, single_values
from groundtransport.records.urls import edit_url
from groundtransport.request import Registry, Request
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted
from groundtransport.web.predicates import asks_for_json
from groundtransport.web.urls import segments

NOTICE = _("You were signed out before this could be saved. What you typed is here again; nothing was saved yet.")
PARAM = "kept"  # the query parameter and the hidden field that hold the token of a saved form


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """Return the tween that redirects from a kind's list to ``redirect_to_form`` if the browser has saved forms."""

    def redirect_from_list(request: Request) -> Response:
        if request.method == "GET" and saved_forms.tokens(request):
            path = segments(request)
            if len(path) == 2 and path[1] in registry["kinds"] and not asks_for_json(request):
                return HTTPSeeOther(f"/admin/{path[1]}/kept")
        return handler(request)

    return redirect_from_list


@view_config(context=Collection, name="kept", request_method="GET", permission=Permission.VIEW)
def redirect_to_form(context: Collection, request: Request) -> Response:
    """Redirect to the newest saved form of the user, else to the list; remove its token from the browser's cookie."""
    tokens, target = saved_forms.tokens(request), ""
    while tokens and not target:
        token = tokens.pop()
        target = _form_url(request, saved_forms.find(request, token), token)
    response = HTTPSeeOther(target or request.context_path(context))
    saved_forms.set_tokens(request, response, tokens)
    return response


def _form_url(request: Request, form: SavedForm | None, token: str) -> str:
    """Return the URL of the page that shows a saved form; "" if the form is None or not that of a record."""
    path = form.path.split("/") if form else []
    kind = request.registry["kinds"].get(path[2]) if len(path) in (3, 4) else None
    if kind is None:
        return ""
    if len(path) == 3:
        return f"/admin/{kind.name}/create?{PARAM}={token}"
    record_id = parse_int(path[3])
    return edit_url(request, kind, record_id, f"{PARAM}={token}") if record_id else ""


@dataclass(frozen=True)
class RestoredForm:
    """A saved form of a record.

    ``fields`` are the submitted texts by field name, ``version`` is the submitted version of the record (None for a new
    one), ``state`` the query string of the list, ``page`` further values for the form's template.
    """

    fields: dict[str, str]
    version: int | None
    state: str
    page: dict[str, object]


def requested_form(request: Request, path: str) -> RestoredForm | None:
    """Return the saved form that ``?kept=`` names; None unless it is the user's own and was submitted to ``path``."""
    token = single_values(request.GET.dict_of_lists()).get(PARAM, "")
    form = saved_forms.find(request, token) if token else None
    if form is None or form.path != path:
        return None
    kind: Kind = request.context.kind
    fields = form.fields
    page: dict[str, object] = {"saved_form": token, "notice": NOTICE}
    if fields.get("form_token"):
        page["form_token"] = fields["form_token"]
    state = query_from_state(kind, fields.get("list_state", ""), request.registry["settings"].page_size).state()
    return RestoredForm(
        fields={name: fields[name] for name in kind.fields if name in fields},
        version=parse_int(fields["version"]) if fields.get("version") else None,
        state=state,
        page=page,
    )


def sent_token(request: Request) -> str:
    """Return the token of the saved form that is submitted again; "" if it is no saved form."""
    return submitted(request, (PARAM,)).get(PARAM, "")


def delete_sent_form(request: Request) -> None:
    """Delete the saved form that was submitted again, after its values were stored in a record."""
    if token := sent_token(request):
        saved_forms.forget(request, token)
