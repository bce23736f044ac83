"""From a form to values and back: one schema, bound to the airport that was typed, for pages and imports alike."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import colander
import deform
from markupsafe import Markup
from pyramid.config import Configurator
from pyramid.decorator import reify
from pyramid.request import Request
from sqlalchemy.orm import Session

from groundtransport.airports import lookup
from groundtransport.airports.models import AIRPORT_NAME_MAX
from groundtransport.airports.names import code_of
from groundtransport.i18n import _
from groundtransport.records.fields import AirportField, Field, Place
from groundtransport.records.kind import Kind
from groundtransport.web.form_data import submitted

GROUPS = {"airport": _("Airport"), "company": _("Company"), "contact": _("Contact"), "place": _("Place")}


class RecordSchema(colander.MappingSchema):
    """What the form of every kind begins with; a kind's schema adds its own fields."""

    airport_name = AirportField(title=_("Airport"), max_length=AIRPORT_NAME_MAX)

    def bind(self, **bindings: Any) -> "RecordSchema":
        """Return the schema bound to a place. (Nothing is deferred: colander would look for it in every name.)"""
        bound: RecordSchema = self.clone()
        for node in (bound, *bound.children):
            node.bindings = bindings
        return bound


class ValidationFailure(Exception):
    """What was typed is no record. ``errors`` maps each field to its messages; ``form`` shows both again."""

    def __init__(self, form: "RecordForm", errors: Mapping[str, list[str]]) -> None:
        super().__init__(", ".join(errors))
        self.form, self.errors = form, errors


def find_place(
    dbsession: Session, airport_name: str, default_country: str, before: Mapping[str, Any] | None = None
) -> Place:
    """Return what a form with that airport string is about; ``before`` holds the record's values, if there is one."""
    airport = lookup.by_airport_name(dbsession, airport_name)
    find_airports = partial(lookup.suggestions, dbsession, airport_name)
    if airport is None:
        return Place(default_country, find_airports=find_airports)
    stays = before is not None and before["airport_id"] == airport.id
    cities = partial(lookup.cities, dbsession, airport)
    return Place(airport.country, airport, cities, before if before and stays else {}, find_airports)


def values_of(place: Place, appstruct: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's values: the fields, and what the airport's name stands for."""
    assert place.airport is not None  # the schema has refused the rest
    return {**appstruct, "airport_id": place.airport.id, "airport_code": place.airport.code}


def warnings_of(schema: colander.MappingSchema, values: Mapping[str, Any]) -> list[str]:
    """Return what is doubtful in valid values."""
    fields = [node for node in schema.children if isinstance(node, Field) and values.get(node.name) is not None]
    return [warning for node in fields if (warning := node.warning(values[node.name]))]


class RecordForm:
    """The form of one record: what the request sent, laid over what the record holds."""

    def __init__(
        self,
        request: Request,
        kind: Kind,
        before: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Lay what was sent over ``before``; or take ``values`` as if they had been typed."""
        self.request, self.kind = request, kind
        # The version that the values build on, where that is not the one that was sent.
        self.version: int | None = None
        if values is None:
            self.sent = _sent(request, kind) if request.method in ("POST", "PUT") else {}
            self.typed = {**_texts(kind, before or {}), **self.sent}
            if request.method == "PUT" and "airport_name" not in self.sent:
                self.typed["airport_name"] = ""  # it must be sent, also on a change
        else:
            self.typed = _texts(kind, values)
        country = request.registry["settings"].default_country
        self.place = find_place(request.dbsession, self.typed.get("airport_name", ""), country, before)
        self.schema = kind.form.bind(place=self.place)

    @reify
    def form(self) -> deform.Form:
        """The form that is shown: a save that succeeds needs none."""
        return deform.Form(self.schema, renderer=self.request.registry["deform_renderer"], formid="record")

    def validate(self) -> dict[str, Any]:
        """Return the record's values; raise ValidationFailure."""
        try:
            return values_of(self.place, self.schema.deserialize(self._filled()))
        except colander.Invalid as invalid:
            self.form.widget.handle_error(self.form, invalid)
            raise ValidationFailure(self, self.errors) from invalid

    def check_airport(self) -> None:
        """Show what is wrong with the airport that was typed, if anything is, without a look at the rest."""
        try:
            self.schema["airport_name"].deserialize(self._filled()["airport_name"])
        except colander.Invalid as invalid:
            self.form["airport_name"].error = invalid

    def _filled(self) -> dict[str, Any]:
        return {name: self.typed.get(name) or colander.null for name in self.kind.fields}

    def warnings(self, values: Mapping[str, Any]) -> list[str]:
        return warnings_of(self.schema, values)

    def focus(self, name: str) -> None:
        """Let the page begin in that field."""
        if name in self.schema:
            node = self.schema[name]
            node.attributes = {**node.attributes, "autofocus": ""}

    @property
    def errors(self) -> dict[str, list[str]]:
        """Return what is wrong, field by field, in the person's language."""
        translate = self.request.translate
        wrong = [field for field in self.form.children if field.error]
        return {field.name: [translate(message) for message in field.error.messages()] for field in wrong}

    def render(self) -> Markup:
        """Return the fields as HTML, with what was typed and what is wrong."""
        markup: Markup = self.form.serialize(self._filled())
        return markup


def _sent(request: Request, kind: Kind) -> dict[str, str]:
    """Return the fields that were sent. Without script, the button of an airport that was offered chooses it."""
    sent, chosen = submitted(request, kind.fields), submitted(request, ("refresh",)).get("refresh", "")
    return {**sent, "airport_name": chosen} if code_of(chosen) else sent


def _texts(kind: Kind, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a form for values, or for texts that were typed before."""
    return {name: node.text(values[name]) for name, node in kind.fields.items() if values.get(name) is not None}


class DeformTemplates:
    """Deform's renderer over our own Jinja templates; its own hold inline scripts, which our policy forbids."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __call__(self, name: str, **values: Any) -> Markup:
        template = self.environment.get_template(f"groundtransport:records/templates/fields/{name}.jinja2")
        groups = _grouped(values["field"].children)
        return Markup(template.render(groups=groups, **values))  # noqa: S704  # nosec B704 # rendered with autoescape


def _grouped(fields: list[deform.Field]) -> list[tuple[str, str, list[deform.Field]]]:
    """Return the groups that have fields, in their order: name, title, and the fields."""
    groups = [(name, title, [one for one in fields if one.schema.group == name]) for name, title in GROUPS.items()]
    return [group for group in groups if group[2]]


def includeme(config: Configurator) -> None:
    def fetch_environment() -> None:
        environment = config.get_jinja2_environment(".jinja2")
        config.registry["deform_renderer"] = DeformTemplates(environment)

    # pyramid_jinja2 makes its environment when the configuration is committed: ask after that.
    config.action("deform_renderer", fetch_environment, order=9999)
