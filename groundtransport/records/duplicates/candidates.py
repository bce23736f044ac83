"""The query for candidates of a duplicate search: matches of the sort indexes, and the airport's newest records."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    FromClause,
    Integer,
    Subquery,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from groundtransport.db.functions import text_holds
from groundtransport.indexes import sort_key
from groundtransport.records.kind import Kind
from groundtransport.records.telephone import e164_name

MARKS = ".'’"  # inside of words, and written or not
SCHEMES = ("https://", "https://www.", "http://", "http://www.")
WORDS = 3  # of a name, the longest, that a text must hold


def identifying(kind: Kind) -> list[str]:
    """Return the fields that identify a company at an airport; a change in them needs a new duplicate search."""
    fields = [name for name, field in kind.fields.items() if name == kind.label or field.identifies_by]
    return ["airport_id", *fields]


def compared_columns(kind: Kind) -> list[str]:
    """Return the columns that are compared: the identifying fields, and the E.164 forms of telephone numbers."""
    return [*identifying(kind), *map(e164_name, kind.telephones)]


def links(kind: Kind) -> list[str]:
    """Return the names of the fields that hold a URL."""
    return [name for name, field in kind.fields.items() if field.identifies_by == "web"]


@cache
def candidates(kind: Kind, reasons: tuple[str, ...], newest: int, alike: int) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the query for the rows to compare; the searched values are its parameters."""
    columns = kind.model.__table__.c
    names = dict.fromkeys(("id", *compared_columns(kind), *kind.columns))
    is_at_airport = sort_key(columns.airport_code) == _sought("airport_code")
    rows = _first(kind, (*names, "search_text"), newest, is_at_airport, columns.id.desc())
    queries = [
        select(*(rows.c[name] for name in names)).where(_at_airport(rows), or_(*_may_share(kind, reasons, rows.c)))
    ]
    for key, condition in _written_alike(kind, reasons):
        rows = _first(kind, names, alike, condition, key.nulls_first())
        queries.append(select(*(rows.c[name] for name in names)).where(_at_airport(rows)))
    return union_all(*queries)


def _first(kind: Kind, names: Iterable[str], number: int, condition: ColumnElement[bool], order: Any) -> Subquery:
    """Return the first live rows of a condition, in the order of its index: so that no other way is thought quicker."""
    query = select(*(kind.model.__table__.c[name] for name in names)).where(kind.model.is_live(), condition)
    return query.order_by(order).limit(literal_column(str(number))).subquery()


def _at_airport(rows: FromClause) -> ColumnElement[bool]:
    return rows.c.airport_id == bindparam("airport_id", type_=Integer)


def _sought(name: str, number: int | str = "") -> object:
    return bindparam(f"{name}{number}", type_=Text)


def _may_share(kind: Kind, reasons: tuple[str, ...], columns: Any) -> Iterator[ColumnElement[bool]]:
    """Yield conditions, one of which a row with a key in common fulfils, and hardly another."""
    if "name" in reasons:
        text = columns.search_text
        for symbol in MARKS:
            text = func.replace(text, symbol, "")
        yield and_(*(text_holds(text, _sought("word", number)) for number in range(WORDS)))
    if "phone" in reasons:
        for number in range(len(kind.telephones)):
            yield text_holds(columns.search_text, _sought("digits", number))
    if "web" in reasons:
        names = links(kind)
        for link in (func.lower(columns[name]) for name in names):
            yield from (text_holds(link, _sought("host", number)) for number in range(len(names)))
            # A host that is not ASCII may be written in two ways.
            yield and_(link.is_not(None), bindparam("foreign", type_=Integer) == 1)


def _written_alike(kind: Kind, reasons: tuple[str, ...]) -> Iterator[tuple[ColumnElement[str], ColumnElement[bool]]]:
    """Yield conditions that the index of a sort answers, each with its key."""
    columns = kind.model.__table__.c
    if "name" in reasons:
        yield _from_to(columns[kind.label], "name")
    if "phone" in reasons:
        numbers = range(len(kind.telephones))
        for name in kind.telephones:
            e164, typed = columns[e164_name(name)], sort_key(columns[name])
            yield e164, e164.in_([_sought("e164", number) for number in numbers])
            yield typed, typed.in_([_sought("short", number) for number in numbers])
    if "web" in reasons:
        names = links(kind)
        for name in names:
            yield from (_from_to(columns[name], "link", number) for number in range(len(names) * len(SCHEMES)))


def _from_to(column: object, name: str, number: int | str = "") -> tuple[ColumnElement[str], ColumnElement[bool]]:
    key = sort_key(column)
    return key, and_(key >= _sought(name, number), key < _sought(f"{name}_end", number))
