"""The columns that a record's fields are copied into in other forms: folded texts, E.164 numbers, the search text.

Besides them, the mark of a record at another place than its airport's cities.
"""

from collections.abc import Callable, Mapping

from sqlalchemy.orm import Session

from groundtransport.airports import lookup, nearby_cities
from groundtransport.airports.nearby_cities import Cities
from groundtransport.events import Values
from groundtransport.indexes import folded_columns, folded_texts
from groundtransport.records.kind import Kind
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.search.search_text import search_text
from groundtransport.records.telephone import e164, e164_name


def derived_columns(kind: Kind) -> list[str]:
    """Return the names of the columns of ``derived_values``."""
    folded = (name for name, _source in folded_columns(kind.model.__table__))
    return ["search_text", *folded, *map(e164_name, kind.telephones)]


def derived_values(
    kind: Kind, values: Values, country: str, numbers: Mapping[str, str | None] | None = None
) -> dict[str, str | None]:
    """Return the derived columns of a record with all its ``values``; ``country`` is its airport's.

    ``numbers`` are its columns of E.164 numbers if they are known.
    """
    numbers = e164_numbers(kind, values, country) if numbers is None else numbers
    text = search_text(kind, values, numbers)
    return {**folded_texts(kind.model.__table__, values), **numbers, "search_text": text}


def changed_values(kind: Kind, after: Values, changed: Values, country: str) -> dict[str, str | None]:
    """Return the derived columns of a record's values ``after`` a change that depend on the ``changed`` ones."""
    numbers = e164_numbers(kind, after, country)
    text = search_text(kind, after, numbers)
    affected = numbers if changed.keys() & {"airport_code", *kind.telephones} else {}
    return {**folded_texts(kind.model.__table__, changed), **affected, "search_text": text}


def e164_numbers(kind: Kind, values: Values, country: str) -> dict[str, str | None]:
    """Return the columns of E.164 numbers."""
    return {e164_name(name): e164(values.get(name), country) for name in kind.telephones}


def given_numbers(kind: Kind, values: Values) -> dict[str, str | None] | None:
    """Return the columns of E.164 numbers that ``values`` hold, as the plan of an import does; None without them."""
    names = [e164_name(name) for name in kind.telephones]
    return {name: values[name] for name in names} if all(name in values for name in names) else None


def mark_at(kind: Kind, values: Values, find_cities: Callable[[], Cities]) -> dict[str, bool]:
    """Return the column that marks a record at another place than its airport's cities; nothing for most kinds."""
    if not kind.marked_city:
        return {}
    city = values.get(kind.marked_city)
    return {OTHER_PLACE: bool(city) and city not in find_cities().names}


def mark_of(dbsession: Session, kind: Kind, values: Values, changed: Values | None = None) -> dict[str, bool]:
    """Return the same column, as ``values`` hold it if an import has computed it.

    With ``changed`` values, return nothing unless they hold the city or the airport: a mark outlives a change of lists.
    """
    if changed is not None and not {kind.marked_city, "airport_code"} & changed.keys():
        return {}
    if OTHER_PLACE in values:
        return {OTHER_PLACE: values[OTHER_PLACE]}

    def find_cities() -> Cities:
        airport = lookup.by_code(dbsession, values["airport_code"])
        return nearby_cities.cities(dbsession, airport) if airport else Cities()

    return mark_at(kind, values, find_cities)
