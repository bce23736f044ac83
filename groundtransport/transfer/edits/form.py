"""The form of a bulk edit: a control for each field, left empty to keep its value, and a box that clears it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import colander
import deform
from sqlalchemy.orm import Session

from groundtransport.airports.names import code_of
from groundtransport.i18n import _
from groundtransport.records.fields import Field
from groundtransport.records.forms import sent_texts
from groundtransport.records.kind import SOURCE, Kind
from groundtransport.request import Request
from groundtransport.transfer.planning.schemas import Schemas

BOTH = _("Write a new value, or choose to clear ${field}: not both.")
ONE_BY_ONE = _("Another place is confirmed in the form of a single record.")
WITHOUT_AIRPORT = {"city_select": "textinput", "state": "textinput"}  # controls whose lists need one airport
TEXT_MAX = 120  # characters of a state or city that is typed where there is no list


class EditForm:
    """The texts that were sent, and the fields to clear.

    ``codes`` are the airports of some of the records: a text is an error if it is valid at none of them. ``common`` is
    the airport of all records, "" if they are at several.
    """

    def __init__(self, request: Request, kind: Kind, codes: Iterable[str], common: str = "") -> None:
        self.dbsession: Session = request.dbsession
        self.request, self.kind, self.codes = request, kind, list(codes)
        self.names = [name for name, node in kind.fields.items() if node.group != SOURCE]
        sent = sent_texts(request, kind)
        self.typed = {name: text for name in self.names if (text := sent.get(name, "")).strip()}
        self.cleared = [name for name in request.POST.getall("clear") if name in self.clearable]
        self.schemas = Schemas(kind, request.registry["settings"].default_country)
        self.target = code_of(self.typed.get("airport_name", "")) or ""
        self.schema = self._at(self.target or common)
        self.form = deform.Form(self.schema, renderer=request.registry["deform_renderer"], formid="record")

    @property
    def clearable(self) -> list[str]:
        """The fields that may be empty."""
        return [name for name in self.names if _may_be_empty(self.kind.fields[name])]

    @property
    def fields(self) -> Sequence[deform.Field]:
        return [self.form[name] for name in self.names]

    @property
    def errors(self) -> dict[str, list[str]]:
        """The error messages of each field, translated."""
        translate = self.request.translate
        return {
            field.name: [translate(text) for text in field.error.messages()] for field in self.fields if field.error
        }

    @property
    def texts(self) -> dict[str, str]:
        """The new texts by field, "" for a cleared one; the airport by its full name. Call ``validate`` before."""
        airport = self.schemas.airport(self.dbsession, self.target)
        named = {"airport_name": airport.airport_name} if airport else {}
        return {**self.typed, **named, **dict.fromkeys(self.cleared, "")}

    def control(self, field: deform.Field) -> str:
        """Return the name of the macro of a field's control."""
        if field.schema.template == "select":
            return "optional_select"  # its empty entry keeps the value
        is_anywhere = field.schema.place.airport is None
        name: str = field.schema.template
        return WITHOUT_AIRPORT.get(name, name) if is_anywhere else name

    def validate(self) -> bool:
        """Put an error at each field whose text is not valid; return True if there is none."""
        for name in self.names:
            if error := self._error(name):
                self.form[name].error = error
        return not self.errors

    def _error(self, name: str) -> colander.Invalid | None:
        if name not in self.typed:
            return None
        if name in self.cleared:
            return self.kind.fields[name].invalid(BOTH)
        codes = [self.target] if self.target or name == "airport_name" else self.codes
        errors = [self._error_at(code, name) for code in codes or [""]]
        first = errors[0]
        if first is None or not all(errors):
            return None
        if name != self.kind.marked_city:
            return first
        return colander.Invalid(first.node, [*first.messages(), ONE_BY_ONE])

    def _error_at(self, code: str, name: str) -> colander.Invalid | None:
        try:
            self.schemas.at(self.dbsession, code)[name].deserialize(self.typed[name])
        except colander.Invalid as invalid:
            return invalid
        return None

    def _at(self, code: str) -> colander.MappingSchema:
        """Return a schema whose fields are all optional, for the controls at the airport of a code."""
        schema = self.kind.form.bind(place=self.schemas.at(self.dbsession, code).bindings["place"])
        for node in schema.children:
            node.missing = None
            if node.place.airport is None and node.template in WITHOUT_AIRPORT:
                node.max_length = TEXT_MAX
        return schema


def _may_be_empty(node: Field) -> bool:
    try:
        return node.empty() is None
    except colander.Invalid:
        return False


def shown_changes(form: EditForm, translate: Callable[[str], str]) -> Mapping[str, str]:
    """Return the new value of each field as people read it, "" for a cleared one, by its title."""
    fields = form.kind.fields
    return {
        translate(fields[name].title): translate(fields[name].filter_shown(text)) for name, text in form.texts.items()
    }
