"""Cache of a kind's schema bound to airports. To bind one and find its cities takes longer than to validate a row."""

from collections.abc import Callable
from functools import partial

import colander
from sqlalchemy.orm import Session

from groundtransport.airports import lookup, nearby_cities, other_places
from groundtransport.airports.models import Airport
from groundtransport.airports.other_places import NearestCity
from groundtransport.records.fields import OtherPlaces, Place
from groundtransport.records.kind import Kind

MOST = 1_000  # schemas; each holds the cities of an airport


class Schemas:
    """Caches the schemas of the airports that were used last. ``dbsession`` may be another one for each call."""

    def __init__(self, kind: Kind, default_country: str, other_places: OtherPlaces = OtherPlaces.REFUSED) -> None:
        """``other_places`` applies to kinds that can mark their records."""
        self.kind, self.default_country = kind, default_country
        self.other_places = other_places if kind.marked_city else OtherPlaces.REFUSED
        self._dbsession: Session | None = None
        self._airports: dict[str, Airport | None] = {}
        self._schemas: dict[str, colander.MappingSchema] = {}

    def airport(self, dbsession: Session, code: str) -> Airport | None:
        """Return the airport of an IATA or ICAO code in upper case; None if there is none."""
        if code not in self._airports:
            self._airports[code] = lookup.by_code(dbsession, code) if code else None
        return self._airports[code]

    def at(self, dbsession: Session, code: str) -> colander.MappingSchema:
        """Return the schema bound to the airport of a code, or to none."""
        self._dbsession = dbsession
        schema = self._schemas.pop(code, None) or self._bind(self.airport(dbsession, code))
        self._schemas[code] = schema  # moves it to the end: the oldest is first
        if len(self._schemas) > MOST:
            del self._schemas[next(iter(self._schemas))]
        return schema

    def _bind(self, airport: Airport | None) -> colander.MappingSchema:
        if airport is None:
            return self.kind.form.bind(place=Place(self.default_country))
        find_cities: Callable[[], nearby_cities.Cities] = partial(self._cities, airport)
        find_nearest: Callable[[str], NearestCity | None] = partial(self._nearest, airport)
        place = Place(airport.country, airport, find_cities, other_places=self.other_places, find_nearest=find_nearest)
        return self.kind.form.bind(place=place)

    def _nearest(self, airport: Airport, text: str) -> NearestCity | None:
        assert self._dbsession is not None
        return other_places.nearest_city(self._dbsession, airport, text)

    def _cities(self, airport: Airport) -> nearby_cities.Cities:
        assert self._dbsession is not None
        return nearby_cities.cities(self._dbsession, airport)
