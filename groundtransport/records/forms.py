"""The form of a record: parse and validate it. Pages and imports use the same schema."""

from collections.abc import Mapping
from functools import partial

import colander
import deform
from markupsafe import Markup
from pyramid.decorator import reify
from sqlalchemy.orm import Session

from groundtransport.airports import lookup, nearby_cities, other_places
from groundtransport.airports.models import AIRPORT_NAME_MAX
from groundtransport.airports.names import code_of
from groundtransport.events import Values
from groundtransport.i18n import _
from groundtransport.records import validity
from groundtransport.records.fields import AirportField, DateField, Field, OtherPlaces, Place
from groundtransport.records.fields.split import splits_of
from groundtransport.records.kind import SOURCE, VALIDITY, Kind
from groundtransport.records.model import SOURCE_ID_MAX, SOURCE_MAX
from groundtransport.records.sources import SourceTaken, check_sources, source_key
from groundtransport.request import Request
from groundtransport.web.form_data import submitted, submitted_all

OTHER_CITY, CONFIRMED_CITY = "other_city", "confirmed_city"  # controls of a city that can be another place
SPLIT = "split_phone"  # the buttons below a telephone field that holds several numbers


class RecordSchema(colander.MappingSchema):
    """The base of every kind's schema, with the airport, the validity and the source; a kind adds its own fields."""

    airport_name = AirportField(title=_("Airport"), max_length=AIRPORT_NAME_MAX)
    valid_from = DateField(title=_("Valid from"), group=VALIDITY, filter_control="")
    valid_until = DateField(
        title=_("Valid until"),
        group=VALIDITY,
        filter_control="",
        help=_("The last day, such as that of a season. After it, the record is shown as ended; it is not deleted."),
    )
    source = Field(title=_("Source"), max_length=SOURCE_MAX, group=SOURCE)
    source_id = Field(title=_("Source ID"), max_length=SOURCE_ID_MAX, group=SOURCE)

    def validator(self, node: colander.SchemaNode, values: Values) -> None:
        """Raise colander.Invalid, with a message at ``valid_until``, if the last day is before the first."""
        if not validity.is_in_order(values):
            invalid = colander.Invalid(node)
            invalid[validity.UNTIL] = validity.WRONG_ORDER
            raise invalid

    def bind(self, **bindings: object) -> "RecordSchema":
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
    dbsession: Session,
    airport_name: str,
    default_country: str,
    before: Values | None = None,
    confirmed: str | None = None,
) -> Place:
    """Return the place of a form with that airport; ``before`` holds the values of the record being edited.

    ``confirmed`` is the other place than the airport's cities that the user confirmed, None if there can be none.
    """
    airport = lookup.by_airport_name(dbsession, airport_name)
    find_airports = partial(lookup.suggestions, dbsession, airport_name)
    others = OtherPlaces.REFUSED if confirmed is None else OtherPlaces.ASKED
    if airport is None:
        return Place(default_country, find_airports=find_airports, other_places=others)
    is_same = before is not None and before["airport_id"] == airport.id
    cities = partial(nearby_cities.cities, dbsession, airport)
    further = partial(nearby_cities.further, dbsession, airport)
    stored = before if before and is_same else {}
    asked = others, confirmed or "", partial(other_places.nearest_city, dbsession, airport)
    return Place(airport.country, airport, cities, stored, find_airports, further, *asked)


def values_of(place: Place, appstruct: Values) -> dict[str, object]:
    """Return a record's values: the fields, ``airport_id`` and ``airport_code``."""
    assert place.airport is not None  # else the schema has raised Invalid
    return {**appstruct, "airport_id": place.airport.id, "airport_code": place.airport.code}


def warnings_of(schema: colander.MappingSchema, values: Values) -> list[str]:
    """Return the warnings about valid values."""
    fields = [node for node in schema.children if isinstance(node, Field) and values.get(node.name) is not None]
    return [warning for node in fields if (warning := node.warning(values[node.name]))]


class RecordForm:
    """The form of one record: the submitted texts over the stored values."""

    def __init__(
        self,
        request: Request,
        kind: Kind,
        before: Values | None = None,
        values: Values | None = None,
        *,
        is_stored: bool = False,
    ) -> None:
        """Put the submitted texts over the stored values ``before``; or use ``values`` in place of both.

        ``is_stored`` says that ``values`` are those of an earlier version: its other place was confirmed then.
        """
        self.request, self.kind = request, kind
        self.before = before or {}
        # The version that the values are based on, if it is not the submitted one.
        self.version: int | None = None
        if values is None:
            self.sent = sent_texts(request, kind) if request.method in ("POST", "PUT") else {}
            self.typed = {**_texts(kind, before or {}), **self.sent}
            if request.method == "PUT" and "airport_name" not in self.sent:
                self.typed["airport_name"] = ""  # required in an update, too
        else:
            self.typed = _texts(kind, values)
        country = request.registry["settings"].default_country
        name, confirmed = self.typed.get("airport_name", ""), self._confirmed(values if is_stored else None)
        self.place = find_place(request.dbsession, name, country, before, confirmed)
        self.schema = kind.form.bind(place=self.place)
        if values is None:
            self._split_numbers()

    def _split_numbers(self) -> None:
        """Put the numbers of a telephone field into the fields that the pressed button names.

        A button that the texts no longer offer, because they were changed after it was shown, has no effect.
        """
        answer = submitted(self.request, (SPLIT,)).get(SPLIT)
        if answer:
            splits = splits_of(self.schema, self.typed).get(answer.partition(":")[0], ())
            self.typed.update(*(split.texts for split in splits if split.answer == answer))

    def _confirmed(self, stored: Values | None) -> str | None:
        """Return the other place that the user confirmed, or that of a ``stored`` version; None if none is valid."""
        if not self.kind.marked_city:
            return None
        if stored is not None:
            return str(stored.get(self.kind.marked_city) or "")
        return submitted(self.request, (CONFIRMED_CITY,)).get(CONFIRMED_CITY, "")

    @reify
    def form(self) -> deform.Form:
        """The deform form, made on demand: a successful save does not render it."""
        return deform.Form(self.schema, renderer=self.request.registry["deform_renderer"], formid="record")

    def validate(self) -> dict[str, object]:
        """Return the record's values. Raise ValidationFailure if a field is invalid."""
        try:
            values = values_of(self.place, self.schema.deserialize(self._filled()))
        except colander.Invalid as invalid:
            self.form.widget.handle_error(self.form, invalid)
            raise ValidationFailure(self, self.errors) from invalid
        self._check_source(values)
        return values

    def _check_source(self, values: Values) -> None:
        """Raise ValidationFailure if a changed source and source ID are those of another live record."""
        if source_key(values) == source_key(self.before):
            return
        try:
            check_sources(self.request.dbsession, self.kind, [values])
        except SourceTaken as taken:
            self.form["source_id"].error = colander.Invalid(self.schema["source_id"], taken.message)
            raise ValidationFailure(self, self.errors) from taken

    def check_airport(self) -> None:
        """Validate the airport alone, and put its error into the form."""
        try:
            self.schema["airport_name"].deserialize(self._filled()["airport_name"])
        except colander.Invalid as invalid:
            self.form["airport_name"].error = invalid

    def _filled(self) -> dict[str, object]:
        return {name: self.typed.get(name) or colander.null for name in self.kind.fields}

    def warnings(self, values: Values) -> list[str]:
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
        splits = splits_of(self.schema, self.typed) if self.errors else {}
        markup: Markup = self.form.serialize(self._filled(), splits=splits)
        return markup


def sent_texts(request: Request, kind: Kind) -> dict[str, str]:
    """Return the submitted fields. Without JavaScript, the button of a suggested airport holds its name."""
    names_of_lists = [name for name, node in kind.fields.items() if node.holds_several]
    values = submitted(request, [name for name in kind.fields if name not in names_of_lists]) | submitted_all(
        request, names_of_lists
    )
    further = submitted(request, ("refresh", OTHER_CITY))
    if kind.marked_city and (other_city := further.get(OTHER_CITY, "").strip()):
        values[kind.marked_city] = other_city  # in place of an entry of the list
    airport_name = further.get("refresh", "")
    return {**values, "airport_name": airport_name} if code_of(airport_name) else values


def _texts(kind: Kind, values: Values) -> dict[str, str]:
    """Return the texts of a form for values, or for texts that were typed before."""
    return {name: node.text(values[name]) for name, node in kind.fields.items() if values.get(name) is not None}
