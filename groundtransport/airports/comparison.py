"""Where the sources of airports disagree, for people who maintain airports/data."""

from collections.abc import Iterable, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import tables
from groundtransport.airports.models import Airport
from groundtransport.airports.nearby_cities import distance
from groundtransport.json_types import JsonObject

FAR = 10  # km

_COLUMNS = {"name": ("name",), "city": ("city",), "position": ("lat", "lon")}


def distant(dbsession: Session) -> Iterator[str]:
    """Yield a line for each airport more than FAR from where OpenTravelData has it, unless corrected here."""
    for airport in dbsession.scalars(select(Airport).order_by(Airport.code)):
        traffic = tables.traffic().get(airport.code)
        if traffic is None or traffic.position is None or "position" in tables.corrections().get(airport.code, {}):
            continue
        km = distance((airport.latitude, airport.longitude), traffic.position)
        if km > FAR:
            yield f"{airport.code} {airport.name}: {km:.0f} km from the position in OpenTravelData"


def outdated_corrections(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    """Yield a line for each correction of a value that the list, given as rows of airportsdata, no longer has."""
    listed = {row["iata"]: row for row in rows}
    for code, columns in sorted(tables.corrections().items()):
        for column, correction in columns.items():
            value = _value(listed[code], column) if code in listed else None
            if value != correction.was:
                yield f"{code}: the {column} in the list is {value!r}; corrections.csv corrects {correction.was!r}"


def _value(row: JsonObject, column: str) -> str:
    values = [row[name] for name in _COLUMNS[column]]
    return " ".join(f"{value:.5f}".rstrip("0").rstrip(".") if isinstance(value, float) else value for value in values)
