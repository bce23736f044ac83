"""The context of a form's validation: the airport that was typed, and the stored values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from groundtransport.airports.lookup import Cities
from groundtransport.airports.models import Airport


@dataclass(frozen=True)
class Place:
    """The airport that was typed in a form, and the values that the record holds.

    ``stored`` is empty for a new record and for one that moves to another airport.
    """

    country: str  # of the airport, else the default country
    airport: Airport | None = None
    find_cities: Callable[[], Cities] = Cities
    stored: Mapping[str, Any] = field(default_factory=dict)
    find_airports: Callable[[], Sequence[str]] = tuple

    @cached_property
    def airports(self) -> Sequence[str]:
        """The names of the airports that match the typed text, best first; queried at first access."""
        return self.find_airports()

    @cached_property
    def cities(self) -> Cities:
        """The airport's cities; queried at first access."""
        return self.find_cities()
