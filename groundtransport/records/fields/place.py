"""Fields of a place: airport, city, state."""

from typing import Any

import colander
from markupsafe import Markup

from groundtransport.airports.names import code_of
from groundtransport.airports.states import country_name, find_state, state_name, states_of
from groundtransport.i18n import _
from groundtransport.records.fields.base import Cell, Field, Highlight, Select, Translate
from groundtransport.text import fold


class AirportField(Field):
    """``<airport name> (<airport code>)``. The code decides; the typed name is replaced by the stored one."""

    group = "airport"
    template = "airport"
    shown_as = "airport"
    missing = colander.required
    help = _("Type a name, a code or a city, and choose.")

    def convert(self, text: str) -> str:
        airport, code = self.place.airport, code_of(text)
        if code is None:
            raise colander.Invalid(
                self, _("Write the airport's name and its code in brackets, or choose it from the list.")
            )
        if airport is None:
            raise colander.Invalid(
                self, _("No airport has the code ${code}. Choose it from the list.", mapping={"code": code})
            )
        if airport.withdrawn_at is not None and airport.code != self.place.stored.get("airport_code"):
            raise colander.Invalid(
                self, _("${airport} is no longer in the list of airports.", mapping={"airport": airport.airport_name})
            )
        return airport.airport_name

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        # Added, not formatted: a page has many cells, and a sum of Markup takes a third of the time.
        begin, end = Markup('<span class="tag" translate="no">'), Markup("</span> ")
        return lambda name: begin + highlight(name[-4:-1]) + end + highlight(name[:-6])


class StateField(Select):
    """The ISO 3166-2 code of a state of the airport's country; its name or short code is accepted, too."""

    group = "place"
    template = "state"

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((state.code, state.name) for state in states_of(self.place.country))

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text  # the form shows the error of the airport instead
        state = find_state(self.place.country, text)
        if state is None:
            country = country_name(self.place.country)
            raise self.invalid(_("${field}: ${country} has no ${state}."), country=country, state=text)
        return state.code

    def shown(self, value: Any) -> str:
        return state_name(value)


class CityField(Field):
    """A city as free text; the form suggests those of the airport."""

    group = "place"
    template = "city"

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.names)

    def suggested(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.likeliest)


class AirportCity(CityField, Select):
    """One of the airport's cities; case and accents do not matter."""

    template = "city_select"

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text
        names, folded = self.place.cities.names, fold(text)
        if text in names:
            return text
        for name in names:
            if fold(name) == folded:
                return name
        missing = _("${field}: ${city} is not one of the cities of ${airport}.")
        raise self.invalid(missing, city=text, airport=self.place.airport.airport_name)
