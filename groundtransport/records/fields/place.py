"""Fields of where a company is: airport, city, state."""

from typing import Any

import colander

from groundtransport.airports.names import code_of
from groundtransport.airports.states import country_name, find_state, state_name, states_of
from groundtransport.i18n import _
from groundtransport.records.fields.base import Field, Select
from groundtransport.text import fold


class AirportField(Field):
    """``<airport name> (<airport code>)``; the canonical string replaces what was typed before the brackets."""

    group = "airport"
    template = "airport"
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
            raise colander.Invalid(
                self,
                self.about(
                    _("${field}: ${country} has no ${state}."), country=country_name(self.place.country), state=text
                ),
            )
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
        names, wanted = self.place.cities.names, fold(text)
        if text in names:
            return text
        for name in names:
            if fold(name) == wanted:
                return name
        missing = _("${field}: ${city} is not one of the cities of ${airport}.")
        raise colander.Invalid(self, self.about(missing, city=text, airport=self.place.airport.airport_name))
