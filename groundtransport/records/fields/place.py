"""Fields of a place: airport, city, state."""

from collections.abc import Sequence
from random import Random

import colander
from markupsafe import Markup, escape

from groundtransport.airports.names import code_of
from groundtransport.airports.states import find_state, state_name, states_of
from groundtransport.events import Value
from groundtransport.i18n import _, country
from groundtransport.records.fields.base import Cell, Field, Highlight, Translate
from groundtransport.records.fields.bound import OtherPlaces
from groundtransport.records.fields.choices import Select
from groundtransport.text import fold


class AirportField(Field):
    """``<airport name> (<airport code>)``. The code decides; the typed name is replaced by the stored one."""

    group = "airport"
    template = "airport"
    shown_as = "airport"
    missing = colander.required
    synonyms = (
        *("airport", "airportname", "nearestairport", "aeropuerto", "nombredelaeropuerto", "aeropuertomascercano"),
        *("flughafen", "flughafenname", "nachsterflughafen", "aeroport", "nomdelaeroport", "aeroportleplusproche"),
    )
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

    def display_html(self, value: Value, translate: Translate) -> Markup:
        return self.cell(escape, translate)(value)

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        # Added, not formatted: a page has many cells, and a sum of Markup takes a third of the time.
        begin, middle, end = (
            Markup('<a class="tag" translate="no" href="/admin/airports/'),
            Markup('">'),
            Markup("</a> "),
        )
        return lambda name: begin + name[-4:-1] + middle + highlight(name[-4:-1]) + end + highlight(name[:-6])

    def cell_in_link(self, highlight: Highlight, translate: Translate) -> Cell:
        begin, end = Markup('<span class="tag" translate="no">'), Markup("</span> ")
        return lambda name: begin + highlight(name[-4:-1]) + end + highlight(name[:-6])


class StateField(Select):
    """The ISO 3166-2 code of a state of the airport's country; its name or short code is accepted, too."""

    group = "place"
    template = "state"
    depends_on_airport = True
    shown_as = "display"
    synonyms = (
        *("state", "province", "region", "stateprovince", "stateorprovince", "statecode", "statename"),
        *("estado", "provincia", "estadoprovincia", "departamento", "comunidadautonoma"),
        *("bundesland", "kanton", "provinz", "departement"),
    )

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((state.code, state.name) for state in states_of(self.place.country))

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text  # the form shows the error of the airport instead
        state = find_state(self.place.country, text)
        if state is None:
            unknown = _("${field}: ${country} has no ${state}.")
            raise self.invalid(unknown, country=country(self.place.country), state=text)
        return state.code

    def valid_texts(self) -> Sequence[str]:
        return [name for _code, name in self.options()]

    def shown(self, value: Value) -> str:
        return state_name(value)


class CityField(Field):
    """A city as free text; the form suggests those of the airport."""

    group = "place"
    template = "city"
    depends_on_airport = True
    synonyms = (
        *("city", "town", "cityname", "citytown", "locality", "municipality", "ciudad", "poblacion", "localidad"),
        *("municipio", "stadt", "ort", "ortsname", "ortschaft", "gemeinde", "ville", "commune", "localite"),
    )

    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.names)

    def suggested(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in self.place.cities.likeliest)

    def further(self) -> tuple[tuple[str, str], ...]:
        """Return the entries to show last: cities further away or across a border."""
        return tuple((name, name) for name in self.place.further_cities)

    def sample(self, generator: Random, country: str) -> str:
        return ""  # the airport decides which names are valid


class AirportCity(CityField, Select):
    """One of the airport's cities; case and accents do not matter. The place says whether another one is valid."""

    template = "city_select"

    def valid_texts(self) -> Sequence[str]:
        return self.place.cities.names

    def convert(self, text: str) -> str:
        if self.place.airport is None:
            return text
        names, folded = self.place.cities.names, fold(text)
        if text in names:
            return text
        for name in names:
            if fold(name) == folded:
                return name
        Field.check_length(self, text)
        if not self._is_accepted(text):
            raise colander.Invalid(self, self._elsewhere(text))
        return text

    def is_other_place(self, text: str) -> bool:
        """Return True if a text is none of the airport's cities, and can be confirmed."""
        place = self.place
        if place.other_places != OtherPlaces.ASKED or place.airport is None or not 0 < len(text) <= self.max_length:
            return False
        return text not in place.cities.names and text != place.stored.get(self.name)

    def warning(self, value: Value) -> str:
        is_doubtful = self.place.other_places == OtherPlaces.DOUBTFUL and value not in self.place.cities.names
        return self._elsewhere(value) if is_doubtful else ""

    def _is_accepted(self, text: str) -> bool:
        if self.place.other_places == OtherPlaces.DOUBTFUL:
            nearest = self.place.find_nearest(text)
            return nearest is None or not nearest.is_alike
        return self.place.other_places == OtherPlaces.ASKED and fold(text) == fold(self.place.confirmed.strip())

    def _elsewhere(self, text: str) -> str:
        """Return the message about another place, with the nearest of the airport's cities."""
        assert self.place.airport is not None
        values = {"city": text, "airport": self.place.airport.airport_name}
        nearest = None if self.place.other_places == OtherPlaces.REFUSED else self.place.find_nearest(text)
        if nearest is None:
            return self.about(NO_CITY, **values)
        values["nearest"] = nearest.name
        if nearest.km is not None:
            return self.about(NEAREST, **values, km=str(nearest.km))
        return self.about(ALIKE if nearest.is_alike else UNKNOWN, **values)


NO_CITY = _("${field}: ${city} is not one of the cities of ${airport}.")
NEAREST = _(
    "${field}: ${city} is not one of the cities of ${airport}. The nearest of them is ${nearest}, ${km} km away."
)
ALIKE = _("${field}: ${city} is not one of the cities of ${airport}. ${nearest} is spelled alike.")
UNKNOWN = _(
    "${field}: ${city} is not one of the cities of ${airport}, and no place near it. "
    "The city nearest to the airport is ${nearest}."
)
