"""The form of a record: parse, validate and render it. Pages and imports use the same schema."""

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
    """The base of every kind's schema, with the airport; a kind adds its own fields."""

    airport_name = AirportField(title=_("Airport"), max_length=AIRPORT_NAME_MAX)

    def bind(self, **bindings: Any) -> "RecordSchema":
        """Return a copy bound to a place. No field is deferred, so colander's slower ``bind`` is not needed."""
        bound: RecordSchema = self.clone()
        for node in (bound, *bound.children):
            node.bindings = bindings
        return bound


class ValidationFailure(Exception):
    """The submitted form is invalid. ``errors`` maps each field to its messages; ``form`` renders both."""

    def __init__(self, form: "RecordForm", errors: Mapping[str, list[str]]) -> None:
        super().__init__(", ".join(errors))
        self.form, self.errors = form, errors


def find_place(
    dbsession: Session, airport_name: str, default_country: str, before: Mapping[str, Any] | None = None
) -> Place:
    """Return the place of a form with that airport; ``before`` holds the values of the record being edited."""
    airport = lookup.by_airport_name(dbsession, airport_name)
    find_airports = partial(lookup.suggestions, dbsession, airport_name)
    if airport is None:
        return Place(default_country, find_airports=find_airports)
    is_same = before is not None and before["airport_id"] == airport.id
    cities = partial(lookup.cities, dbsession, airport)
    return Place(airport.country, airport, cities, before if before and is_same else {}, find_airports)


def values_of(place: Place, appstruct: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's values: the fields, ``airport_id`` and ``airport_code``."""
    assert place.airport is not None  # else the schema has raised Invalid
    return {**appstruct, "airport_id": place.airport.id, "airport_code": place.airport.code}


def warnings_of(schema: colander.MappingSchema, values: Mapping[str, Any]) -> list[str]:
    """Return the warnings about valid values."""
    fields = [node for node in schema.children if isinstance(node, Field) and values.get(node.name) is not None]
    return [warning for node in fields if (warning := node.warning(values[node.name]))]


class RecordForm:
    """The form of one record: the submitted texts over the stored values."""

    def __init__(
        self,
        request: Request,
        kind: Kind,
        before: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Put the submitted texts over the stored values ``before``; or use ``values`` in place of both."""
        self.request, self.kind = request, kind
        # The version that the values are based on, if it is not the submitted one.
        self.version: int | None = None
        if values is None:
            self.sent = _sent(request, kind) if request.method in ("POST", "PUT") else {}
            self.typed = {**_texts(kind, before or {}), **self.sent}
            if request.method == "PUT" and "airport_name" not in self.sent:
                self.typed["airport_name"] = ""  # required in an update, too
        else:
            self.typed = _texts(kind, values)
        country = request.registry["settings"].default_country
        self.place = find_place(request.dbsession, self.typed.get("airport_name", ""), country, before)
        self.schema = kind.form.bind(place=self.place)

    @reify
    def form(self) -> deform.Form:
        """The deform form, made on demand: a successful save does not render it."""
        return deform.Form(self.schema, renderer=self.request.registry["deform_renderer"], formid="record")

    def validate(self) -> dict[str, Any]:
        """Return the record's values. Raise ValidationFailure if a field is invalid."""
        try:
            return values_of(self.place, self.schema.deserialize(self._filled()))
        except colander.Invalid as invalid:
            self.form.widget.handle_error(self.form, invalid)
            raise ValidationFailure(self, self.errors) from invalid

    def check_airport(self) -> None:
        """Validate the airport alone, and put its error into the form."""
        try:
            self.schema["airport_name"].deserialize(self._filled()["airport_name"])
        except colander.Invalid as invalid:
            self.form["airport_name"].error = invalid

    def _filled(self) -> dict[str, Any]:
        return {name: self.typed.get(name) or colander.null for name in self.kind.fields}

    def warnings(self, values: Mapping[str, Any]) -> list[str]:
        """Return the warnings about valid values."""
        return warnings_of(self.schema, values)

    def focus(self, name: str) -> None:
        """Set the initial focus of the page on a field."""
        if name in self.schema:
            node = self.schema[name]
            node.attributes = {**node.attributes, "autofocus": ""}

    @property
    def errors(self) -> dict[str, list[str]]:
        """The error messages of each invalid field, translated."""
        translate = self.request.translate
        invalid = [field for field in self.form.children if field.error]
        return {field.name: [translate(message) for message in field.error.messages()] for field in invalid}

    def render(self) -> Markup:
        """Return the HTML of the fields, with the typed texts and the errors."""
        markup: Markup = self.form.serialize(self._filled())
        return markup


def _sent(request: Request, kind: Kind) -> dict[str, str]:
    """Return the submitted fields. Without JavaScript, the button of a suggested airport holds its name."""
    texts, airport_name = submitted(request, kind.fields), submitted(request, ("refresh",)).get("refresh", "")
    return {**texts, "airport_name": airport_name} if code_of(airport_name) else texts


def _texts(kind: Kind, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a form for values, or for texts that were typed before."""
    return {name: node.text(values[name]) for name, node in kind.fields.items() if values.get(name) is not None}


class DeformTemplates:
    """Deform renderer for our Jinja templates. Those of deform hold inline scripts, which our CSP forbids."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __call__(self, name: str, **values: Any) -> Markup:
        template = self.environment.get_template(f"groundtransport:records/templates/fields/{name}.jinja2")
        groups = _grouped(values["field"].children)
        return Markup(template.render(groups=groups, **values))  # noqa: S704  # nosec B704 # rendered with autoescape


def _grouped(fields: list[deform.Field]) -> list[tuple[str, str, list[deform.Field]]]:
    """Return the non-empty groups in order: name, title, and fields."""
    groups = [(name, title, [one for one in fields if one.schema.group == name]) for name, title in GROUPS.items()]
    return [group for group in groups if group[2]]


def includeme(config: Configurator) -> None:
    """Set ``registry["deform_renderer"]``."""

    def fetch_environment() -> None:
        environment = config.get_jinja2_environment(".jinja2")
        config.registry["deform_renderer"] = DeformTemplates(environment)

    # pyramid_jinja2 creates the environment when the configuration is committed: get it after that.
    config.action("deform_renderer", fetch_environment, order=9999)
