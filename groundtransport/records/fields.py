"""The fields a kind can have: each turns what was typed into a value, or says why not.

Rules are those of docs/decisions.md. A node reads the ``Place`` that its schema was bound to.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import colander
import deform.widget
import phonenumbers

from groundtransport.airports.lookup import Cities
from groundtransport.airports.models import Airport
from groundtransport.airports.names import code_of
from groundtransport.airports.states import country_name, find_state, state_name, states_of
from groundtransport.text import fold

BLANKS = (
    "".join(chr(c) for c in range(0x3001) if chr(c).isspace() and unicodedata.category(chr(c)) != "Cc") + "\t\n\v\f\r"
)


@dataclass(frozen=True)
class Place:
    """What a form is about: the airport that was typed, and what the record held before.

    ``stored`` is empty for a new record and for one that moves to another airport.
    """

    country: str  # of the airport, else the default country
    airport: Airport | None = None
    find_cities: Callable[[], Cities] = Cities
    stored: Mapping[str, Any] = field(default_factory=dict)
    is_new: bool = True

    @cached_property
    def cities(self) -> Cities:
        """The airport's cities, looked up when somebody asks."""
        return self.find_cities()


class Field(colander.SchemaNode):
    """A line of text. ``group`` names the part of the form that it stands in."""

    schema_type = colander.String
    missing = None
    group = "company"
    help = ""
    max_length = 0
    template = "textinput"
    is_phone = False
    is_link = False
    choices: tuple[tuple[str, str], ...] = ()
    attributes: Mapping[str, str] = {}

    @property
    def widget(self) -> deform.widget.Widget:
        return deform.widget.TextInputWidget(template=self.template, strip=False)

    @property
    def place(self) -> Place:
        place: Place = self.bindings["place"]
        return place

    def deserialize(self, cstruct: Any = colander.null) -> Any:
        """Return the value of a text: None for an empty one; raise colander.Invalid for a bad one."""
        text = self.clean(cstruct) if isinstance(cstruct, str) else ""
        if not text:
            return self.empty()
        self.check_length(text)
        # What is stored stays valid, also when the lists have changed since.
        return text if self.place.stored.get(self.name) == text else self.convert(text)

    def clean(self, text: str) -> str:
        text = text.strip(BLANKS)
        if any(unicodedata.category(char) == "Cc" for char in text):
            raise colander.Invalid(self, f"{self.title} holds a line break or another control character.")
        return text

    def check_length(self, text: str) -> None:
        if len(text) > self.max_length:
            raise colander.Invalid(self, f"{self.title} can have at most {self.max_length:,} characters.")

    def empty(self) -> Any:
        if self.missing is colander.required:
            raise colander.Invalid(self, f"{self.title} is required.")
        return None

    def convert(self, text: str) -> str:
        return text

    def warning(self, value: str) -> str:
        """Return why a value is doubtful; "" when it is not. A warning hinders nothing."""
        return ""

    def shown(self, value: Any) -> str:
        """Return the value as people read it."""
        return "" if value is None else str(value)


class Paragraphs(Field):
    """A longer text; line breaks are kept."""

    template = "textarea"

    def clean(self, text: str) -> str:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").strip(BLANKS)
        super().clean(lines.replace("\n", " "))
        return lines


class AirportField(Field):
    """``<airport name> (<airport code>)``; the canonical string replaces what was typed before the brackets."""

    group = "airport"
    template = "airport"
    missing = colander.required
    help = "Type a name, a code or a city, and choose."

    def convert(self, text: str) -> str:
        airport, code = self.place.airport, code_of(text)
        if code is None:
            raise colander.Invalid(
                self, "Write the airport's name and its code in brackets, or choose it from the list."
            )
        if airport is None:
            raise colander.Invalid(self, f"No airport has the code {code}. Choose it from the list.")
        if airport.withdrawn_at is not None and airport.code != self.place.stored.get("airport_code"):
            raise colander.Invalid(self, f"{airport.airport_name} is no longer in the list of airports.")
        return airport.airport_name


_NATIONAL = re.compile(r"[0-9 ()./-]+", re.ASCII)


class Phone(Field):
    """A telephone number, kept as typed; without a country code it is one of the airport's country."""

    group = "contact"
    is_phone = True
    attributes = {"type": "tel", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if self._parse(text) is None and not self._is_foreign_to_library(text):
            raise colander.Invalid(self, f"{self.title} is not a telephone number.")
        return text

    def warning(self, value: str) -> str:
        number = self._parse(value)
        if number is not None and phonenumbers.is_valid_number(number):
            return ""
        return f"{self.title} {value} may be wrong: it is no complete number in {country_name(self.place.country)}."

    def _parse(self, text: str) -> phonenumbers.PhoneNumber | None:
        try:
            return phonenumbers.parse(text, self.place.country)
        except phonenumbers.NumberParseException:
            return None

    def _is_foreign_to_library(self, text: str) -> bool:
        """Whether the number may be good and only its country's numbers are unknown (Antarctica's, say)."""
        unknown = self.place.country not in phonenumbers.SUPPORTED_REGIONS
        return unknown and len(re.sub(r"[^0-9]", "", text)) >= 3 and bool(_NATIONAL.fullmatch(text))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.ASCII | re.IGNORECASE)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]*\w)?\.)+[^\W_](?:[\w-]*\w)?\.?")


class Link(Field):
    """An address on the web, http or https; ``https://`` is put in front of one without a scheme."""

    group = "contact"
    is_link = True
    attributes = {"inputmode": "url", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if not _SCHEME.match(text):
            text = f"https://{text.removeprefix('//')}"
        self._check(text)
        self.check_length(text)  # again: the scheme may have been put in front
        return text

    def _check(self, text: str) -> None:
        try:
            parts = urlsplit(text)
            host, scheme, _ = parts.hostname or "", parts.scheme, parts.port
        except ValueError:
            raise colander.Invalid(self, f"{self.title} is not a web address.") from None
        if scheme not in ("http", "https"):
            raise colander.Invalid(self, f"{self.title} must begin with http:// or https://.")
        if "@" in parts.netloc:
            raise colander.Invalid(self, f"{self.title} must not hold a user name.")
        if "\\" in text or any(char.isspace() for char in text) or not _HOST.fullmatch(host):
            raise colander.Invalid(self, f"{self.title} is not a web address.")


class Select(Field):
    """One of a list."""

    template = "select"

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return what can be chosen: pairs of value and label."""
        return self.choices

    def suggested(self) -> tuple[tuple[str, str], ...]:
        """Return the few options that are shown first."""
        return ()

    def check_length(self, text: str) -> None:
        """Leave it to the list: a state's name may be longer than the code that is stored."""


class Choice(Select):
    """A code out of a fixed few; the first is the default of a new record."""

    def empty(self) -> Any:
        return self.choices[0][0] if self.place.is_new else None

    def convert(self, text: str) -> str:
        for code, label in self.choices:
            if text.casefold() in (code.casefold(), label.casefold()):
                return code
        labels = ", ".join(label for _, label in self.choices)
        raise colander.Invalid(self, f"{self.title} must be one of: {labels}.")

    def shown(self, value: Any) -> str:
        return dict(self.choices).get(value, value or "")


class StateField(Select):
    """A state of the airport's country, by ISO 3166-2; the part after the hyphen and the name are understood."""

    group = "place"
    template = "state"

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((state.code, state.name) for state in states_of(self.place.country))

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text  # the airport's own error comes first
        state = find_state(self.place.country, text)
        if state is None:
            raise colander.Invalid(self, f"{self.title}: {country_name(self.place.country)} has no {text}.")
        return state.code

    def shown(self, value: Any) -> str:
        return state_name(value)


class CityField(Field):
    """A city in free text; those of the airport are offered."""

    group = "place"
    template = "city"

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.names)

    def suggested(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.likeliest)


class AirportCity(CityField, Select):
    """A city out of those of the airport, found without case and accents."""

    template = "city_select"

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text
        wanted = fold(text)
        for name in sorted(self.place.cities.names, key=lambda name: name != text):
            if fold(name) == wanted:
                return name
        raise colander.Invalid(
            self, f"{self.title}: {text} is not one of the cities of {self.place.airport.airport_name}."
        )


def declare(node: type[Field], column: Any, title: str, **facts: Any) -> Field:
    """Return the field of a column: its name and its greatest length are the column's."""
    return node(name=column.key, title=title, max_length=column.type.length, **facts)
