"""What a form is about: the airport that was typed, and what the record held before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from groundtransport.airports.lookup import Cities
from groundtransport.airports.models import Airport


@dataclass(frozen=True)
class Place:
    """What a form is about: the airport that was typed, and what the record held before.

    ``stored`` is empty for a new record and for one that moves to another airport.
    """

    country: str  # of the airport, else the default country
    airport: Airport | None = None
    find_cities: Callable[[], Cities] = Cities
    stored: Mapping[str, Any] = field(default_factory=dict)
    find_airports: Callable[[], Sequence[str]] = tuple

    @cached_property
    def airports(self) -> Sequence[str]:
        """The airport strings that what was typed finds, best first; looked up when somebody asks."""
        return self.find_airports()

    @cached_property
    def cities(self) -> Cities:
        """The airport's cities, looked up when somebody asks."""
        return self.find_cities()
