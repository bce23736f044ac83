"""The tables of airports and cities. ``groundtransport init`` loads them from public lists; no form changes them."""

from datetime import datetime

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.airports.names import named
from groundtransport.db import Base, Id, UTCDateTime

AIRPORT_NAME_MAX = 200  # '<name> (<code>)'; the longest of the list has 77


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
    # Of its city, 0 if unknown. Orders the suggestions.
    population: Mapped[int] = mapped_column(default=0)
    # False for an airport added by ``airports add``, which a refresh does not withdraw.
    is_listed: Mapped[bool] = mapped_column(default=True)
    # Set if a newer list lacks the airport: it accepts no new records, existing ones keep it.
    withdrawn_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    @property
    def airport_name(self) -> str:
        """The name in forms and records: ``<name> (<code>)``."""
        return named(self.name, self.code)


class City(Base):
    """A city of at least 5,000 inhabitants (GeoNames, CC BY 4.0)."""

    __tablename__ = "city"
    __table_args__ = (Index(None, "country", "latitude", "longitude"),)
    id: Mapped[int] = mapped_column(Id, primary_key=True)  # the geonameid
    name: Mapped[str] = mapped_column(String(200))
    country: Mapped[str] = mapped_column(String(2))
    latitude: Mapped[float]
    longitude: Mapped[float]
    population: Mapped[int]
    state: Mapped[str | None] = mapped_column(String(6))  # ISO 3166-2, if known: airports/loading.py
