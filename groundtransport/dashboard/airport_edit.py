"""``/admin/airports/<code>/edit``: administrators edit an airport, and its records follow."""

from dataclasses import replace
from datetime import date
from types import MappingProxyType
from uuid import uuid4

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.airports import edits, lookup
from groundtransport.airports.models import AIRPORT_NAME_MAX, AirportEdit
from groundtransport.airports.models import Airport as AirportRow
from groundtransport.audit.entries import AIRPORT_TITLES
from groundtransport.events import AIRPORT, Actor, AirportEdited
from groundtransport.i18n import _
from groundtransport.records import renaming
from groundtransport.request import Request
from groundtransport.resources import Airport
from groundtransport.security import Permission
from groundtransport.text import plain
from groundtransport.web.actor import actor_of
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import submitted

TEMPLATE = "groundtransport:dashboard/templates/airport_edit.jinja2"
LONGEST = {"name": AIRPORT_NAME_MAX - 6, "city": 120, "closed_on": 10, "replaced_by": 3, "known_as": 500}
Typed = dict[str, str | None]


@view_defaults(context=Airport, name="edit", permission=Permission.AIRPORTS)
class AirportEditViews:
    """The form and its answer. The form names the version of the edit that it replaces."""

    def __init__(self, context: Airport, request: Request) -> None:
        self.request, self.dbsession = request, request.dbsession
        self.airport_id, self.url = context.airport.id, f"/admin/airports/{context.airport.code}"

    @view_config(request_method="GET")
    def show(self) -> Response:
        """Render the form with the present values."""
        airport = self.dbsession.get_one(AirportRow, self.airport_id)
        edit = edits.fetch(self.dbsession, self.airport_id)
        return self._page(airport, edit, edits.values_of(airport, edit), {}, 200)

    @view_config(request_method="POST")
    def save(self) -> Response:
        """Save the changed fields; 422 if one is invalid, 409 if somebody else has edited the airport."""
        airport = edits.locked(self.dbsession, self.airport_id)
        edit = edits.fetch(self.dbsession, self.airport_id)
        form = submitted(self.request, (*edits.EDITABLE, "version"))
        present = edits.values_of(airport, edit)
        typed: Typed = {
            **present,
            **{name: plain(form[name]).strip() or None for name in edits.EDITABLE if name in form},
        }
        if form.get("version") != str(edit.version if edit else 0):
            text = _(
                "The airport was changed in the meantime. The present values stand below the fields; "
                "save to replace them."
            )
            return self._page(airport, edit, typed, {"": text}, 409)
        typed["replaced_by"] = (typed["replaced_by"] or "").upper() or None
        if errors := self._errors(airport, typed):
            return self._page(airport, edit, typed, errors, 422)
        changed = {name: value for name, value in typed.items() if value != present[name]}
        if changed:
            self._store(airport, edit, present, changed)
        return HTTPSeeOther(self.request.application_url + self.url)

    def _store(self, airport: AirportRow, edit: AirportEdit | None, before: Typed, changed: Typed) -> None:
        """Store the edit, log it, and rename the airport in its records, in one transaction and one batch."""
        actor = replace(actor_of(self.request), batch=uuid4().hex)
        edit = edits.store(self.dbsession, airport, edit, changed)
        self.request.registry.notify(_event(airport, edit, before, {**before, **changed}, actor, self.request))
        number = 0
        if "name" in changed:
            notify = self.request.registry.notify
            for kind in self.request.registry["kinds"].values():
                number += renaming.rename_at(self.dbsession, notify, kind, actor, airport)
        self.request.tm.get().addAfterCommitHook(self._forget)
        text = _("${airport} was saved; ${n} records have its new name.") if number else _("${airport} was saved.")
        text = _(text, mapping={"airport": airport.airport_name, "n": f"{number:,}"})
        self.request.session.flash({"text": self.request.translate(text)})

    def _forget(self, committed: bool) -> None:  # noqa: FBT001  # the hook's form
        edits.forget_cached(self.dbsession)

    def _errors(self, airport: AirportRow, typed: Typed) -> dict[str, str]:
        """Return the error messages by field name."""
        errors: dict[str, str] = {}
        for name, longest in LONGEST.items():
            if len(typed[name] or "") > longest:
                errors[name] = _("At most ${number} characters.", mapping={"number": longest})
        if not typed["name"]:
            errors["name"] = _("An airport needs a name.")
        if typed["closed_on"] and not _is_date(typed["closed_on"]):
            errors["closed_on"] = _("Write the date as YYYY-MM-DD.")
        successor = typed["replaced_by"]
        if successor and (
            successor == airport.code or len(successor) != 3 or not lookup.by_code(self.dbsession, successor)
        ):
            errors["replaced_by"] = _("Write the IATA code of another airport.")
        return errors

    def _page(
        self, airport: AirportRow, edit: AirportEdit | None, typed: Typed, errors: dict[str, str], status: int
    ) -> Response:
        messages = {name: self.request.translate(text) for name, text in errors.items()}
        if errors and prefers_json(self.request):
            return problem(
                self.request, status, " ".join(messages.values()), errors={k: [v] for k, v in messages.items()}
            )
        values = {"airport": airport, "version": edit.version if edit else 0, "typed": typed, "errors": messages}
        values |= {
            "present": edits.values_of(airport, edit),
            "titles": AIRPORT_TITLES,
            "longest": LONGEST,
            "url": self.url,
        }
        values["has_conflict"] = status == 409
        response = render_to_response(TEMPLATE, values, request=self.request)
        response.status_int = status
        return response


def _event(
    airport: AirportRow, edit: AirportEdit, before: Typed, after: Typed, actor: Actor, request: Request
) -> AirportEdited:
    """Return the event for the activity log."""
    code = {"airport_code": airport.code}
    values = MappingProxyType({**before, **code}), MappingProxyType({**after, **code})
    return AirportEdited(AIRPORT, airport.id, airport.airport_name, *values, edit.version, actor, request.dbsession)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
