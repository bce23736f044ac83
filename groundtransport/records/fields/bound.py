"""The context of a form's validation: the airport that was typed, and the stored values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from groundtransport.airports.models import Airport
from groundtransport.airports.nearby_cities import Cities
from groundtransport.airports.other_places import NearestCity


def _nothing(text: str) -> None:
    """Return None: the nearest city to any place where there are none."""


class OtherPlaces(Enum):
    """What a field says to a place that is none of the airport's cities."""

    REFUSED = auto()
    ASKED = auto()  # valid if the user has confirmed it: ``Place.confirmed``
    DOUBTFUL = auto()  # valid with a warning, unless it is probably misspelled: in an import


@dataclass(frozen=True)
class Place:
    """The airport that was typed in a form, and the values that the record holds.

    ``stored`` is empty for a new record and for one that moves to another airport. ``confirmed`` is the name of another
    place that the user confirmed. ``find_nearest`` returns the airport's city that is nearest to one.
    """

    country: str  # of the airport, else the default country
    airport: Airport | None = None
    find_cities: Callable[[], Cities] = Cities
    stored: Mapping[str, object] = field(default_factory=dict)
    find_airports: Callable[[], Sequence[str]] = tuple
    find_further: Callable[[], Sequence[str]] = tuple
    other_places: OtherPlaces = OtherPlaces.REFUSED
    confirmed: str = ""
    find_nearest: Callable[[str], NearestCity | None] = _nothing

    @cached_property
    def airports(self) -> Sequence[str]:
        """The names of the airports that match the typed text, best first; queried at first access."""
        return self.find_airports()

    @cached_property
    def further_cities(self) -> Sequence[str]:
        """The names of cities further away or across a border; queried at first access."""
        return self.find_further()

    @cached_property
    def cities(self) -> Cities:
        """The airport's cities; queried at first access."""
        return self.find_cities()
