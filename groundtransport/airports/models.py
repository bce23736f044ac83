"""The tables of airports and cities, which ``groundtransport init`` loads from public lists, and of airports' edits."""

from datetime import date, datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.airports.names import named
from groundtransport.db import Base, Id, UTCDateTime

AIRPORT_NAME_MAX = 200  # '<name> (<code>)'; the longest of the list has 77
CITY_NAME_MAX = 200


class Airport(Base):
    """An airport. Records refer to it by ``id``, because codes change and are reassigned."""

    __tablename__ = "airport"
    id: Mapped[int] = mapped_column(Id, primary_key=True)
    code: Mapped[str] = mapped_column(String(3), unique=True)  # IATA
    icao: Mapped[str | None] = mapped_column(String(4), index=True)
    name: Mapped[str] = mapped_column(String(AIRPORT_NAME_MAX - 6))
    city: Mapped[str] = mapped_column(String(120))
    state: Mapped[str] = mapped_column(String(120))  # the source's name of the subdivision, not a code
    country: Mapped[str] = mapped_column(String(2))  # ISO 3166-1
    latitude: Mapped[float]
    longitude: Mapped[float]
    search_text: Mapped[str] = mapped_column(Text)
    other_names: Mapped[str | None] = mapped_column(Text)  # of its city in all languages, as in ``search_text``
    # Of its city, 0 if unknown. Orders the suggestions.
    population: Mapped[int] = mapped_column(default=0)
    # OpenTravelData's page rank: 1 is the busiest, None has no scheduled flights. Orders the suggestions.
    page_rank: Mapped[float | None]
    closed_on: Mapped[date | None]
    replaced_by: Mapped[str | None] = mapped_column(String(3))  # the code of a closed airport's successor
    # False for an airport added by ``airports add``, which a refresh does not withdraw.
    is_listed: Mapped[bool] = mapped_column(default=True)
    # Set if a newer list lacks the airport: it accepts no new records, existing ones keep it.
    withdrawn_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    @property
    def airport_name(self) -> str:
        """The name in forms and records: ``<name> (<code>)``."""
        return named(self.name, self.code)


class AirportEdit(Base):
    """What an administrator changed in an airport. It is applied again whenever the airport is loaded."""

    __tablename__ = "airport_edit"
    airport_id: Mapped[int] = mapped_column(ForeignKey("airport.id"), primary_key=True, autoincrement=False)
    version: Mapped[int]  # the number of changes; a form names the version that it replaces
    # The edited columns of EDITABLE and their values; a date as YYYY-MM-DD.
    edited: Mapped[dict[str, str | None]] = mapped_column(JSON)


class City(Base):
    """A city of at least 5,000 inhabitants (GeoNames, CC BY 4.0)."""

    __tablename__ = "city"
    __table_args__ = (Index(None, "country", "latitude", "longitude"),)
    id: Mapped[int] = mapped_column(Id, primary_key=True)  # the geonameid
    name: Mapped[str] = mapped_column(String(CITY_NAME_MAX))
    country: Mapped[str] = mapped_column(String(2))
    latitude: Mapped[float]
    longitude: Mapped[float]
    population: Mapped[int]
    state: Mapped[str | None] = mapped_column(String(6))  # ISO 3166-2, if known: airports/loading.py


class SmallCity(Base):
    """A place of fewer inhabitants than those of ``City``, or a part of one (GeoNames, CC BY 4.0)."""

    __tablename__ = "small_city"
    __table_args__ = (Index(None, "latitude", "longitude"),)
    id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)  # the geonameid
    name: Mapped[str] = mapped_column(String(CITY_NAME_MAX))
    folded_name: Mapped[str] = mapped_column(String(CITY_NAME_MAX))  # see other_places.place_key
    latitude: Mapped[float]
    longitude: Mapped[float]
