"""Lead from the list back to the form that was sent after its session had ended (accounts/saved_forms.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response
from pyramid.view import view_config

from groundtransport.accounts import saved_forms as keeping
from groundtransport.accounts.models import KeptForm
from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import number, of_state, only_once
from groundtransport.records.urls import edit_url
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted
from groundtransport.web.predicates import asks_for_json
from groundtransport.web.urls import segments

NOTICE = _("You were signed out before this could be saved. What you typed is here again; nothing was saved yet.")


def tween(handler: Callable[[Request], Response], registry: Registry) -> Callable[[Request], Response]:
    """A sign-in leads to a list: go on from there to what waits for the person."""

    def lead_back(request: Request) -> Response:
        if request.method == "GET" and keeping.tokens(request):
            path = segments(request)
            if len(path) == 2 and path[1] in registry["kinds"] and not asks_for_json(request):
                return HTTPSeeOther(f"/admin/{path[1]}/kept")
        return handler(request)

    return lead_back


@view_config(context=Collection, name="kept", request_method="GET", permission=Permission.VIEW)
def lead_to_form(context: Collection, request: Request) -> Response:
    """To the form that waits, the newest first; to the list when none is for the signed-in person."""
    waiting, target = keeping.tokens(request), ""
    while waiting and not target:
        token = waiting.pop()
        target = _page_of(request, keeping.find(request, token), token)
    response = HTTPSeeOther(target or request.context_path(context))
    keeping.set_tokens(request, response, waiting)
    return response


def _page_of(request: Request, form: KeptForm | None, token: str) -> str:
    """Return the address of a kept form's page; "" where there is none."""
    path = form.address.split("/") if form else []
    kind = request.registry["kinds"].get(path[2]) if len(path) in (3, 4) else None
    if kind is None:
        return ""
    if len(path) == 3:
        return f"/admin/{kind.name}/create?kept={token}"
    record_id = number(path[3])
    return edit_url(request, kind, record_id, f"kept={token}") if record_id else ""


@dataclass(frozen=True)
class Kept:
    """A form as it was typed. ``page`` is what its page says besides."""

    fields: dict[str, str]
    version: int | None
    state: str
    page: dict[str, Any]


def kept_for(request: Request, address: str) -> Kept | None:
    """Return the kept form that ``?kept=`` names, if it is the signed-in person's and was sent to that address."""
    token = only_once(request.GET.dict_of_lists()).get("kept", "")
    form = keeping.find(request, token) if token else None
    if form is None or form.address != address:
        return None
    kind: Kind = request.context.kind
    fields = form.fields
    page: dict[str, Any] = {"kept": token, "notice": NOTICE}
    if fields.get("form_token"):
        page["form_token"] = fields["form_token"]
    state = of_state(kind, fields.get("list_state", ""), request.registry["settings"].page_size).state()
    return Kept(
        fields={name: fields[name] for name in kind.fields if name in fields},
        version=number(fields["version"]) if fields.get("version") else None,
        state=state,
        page=page,
    )


def sent_token(request: Request) -> str:
    """Return the token of a kept form that is sent again."""
    return submitted(request, ("kept",)).get("kept", "")


def forget(request: Request) -> None:
    """What was kept is saved now."""
    if token := sent_token(request):
        keeping.forget(request, token)
