"""What the rows of a list must fulfil, as conditions of SQL; the values of ``Wanted`` fill them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Text, and_, bindparam, literal, literal_column, or_
from sqlalchemy.sql import visitors

from groundtransport.db.functions import part_holds, text_holds
from groundtransport.indexes import sort_key
from groundtransport.records.kind import Kind
from groundtransport.records.search.terms import TermMatch, Wanted
from groundtransport.text import PART


def lacks(kind: Kind, name: str) -> ColumnElement[bool]:
    """Return the condition that every field which a text filter looks in is empty; the index of its sort knows."""
    return and_(*(sort_key(kind.model.__table__.c[field]).is_(None) for field in kind.filters[name]))


def group_conditions(kind: Kind, wanted: Wanted) -> list[ColumnElement[bool]]:
    """Return the conditions by exact value, in the form that the indexes of the sorts know; ``values`` fill them."""
    columns = kind.model.__table__.c
    keys = {name: sort_key(columns[name]) for name in wanted.groups}
    types = {name: Text() if key is not columns[name] else key.type for name, key in keys.items()}
    return [key == bindparam(f"of_{name}", type_=types[name]) for name, key in keys.items()]


def texts(kind: Kind, wanted: Wanted, *, indexed: bool = False) -> list[ColumnElement[bool]]:
    """Return the conditions that the texts must fulfil; ``values`` fill them.

    ``indexed`` puts them as PostgreSQL's index knows them. Else that index is not asked: it would be read as a whole
    for a word of one or two characters, for seconds that cannot be interrupted.
    """
    return [_condition(kind, manner, number, indexed=indexed) for number, manner in enumerate(wanted.shape)]


def spellings(kind: Kind, wanted: Wanted) -> list[ColumnElement[bool]]:
    """Return conditions that the texts fulfil which hold a phone in either spelling: PostgreSQL's index knows them."""
    column = kind.model.__table__.c.search_text
    return [
        or_(_holds(column, f"text_{number}", indexed=True), _holds(column, f"digits_{number}", indexed=True))
        for number, (how, _, is_long) in enumerate(wanted.shape)
        if is_long and how in ("number", "phone")
    ]


def filled(conditions: Iterable[ColumnElement[bool]], wanted: Wanted) -> list[ColumnElement[bool]]:
    """Return conditions with their values, to be used in any statement."""

    def fill(given: BindParameter[Any]) -> None:
        if given.key in wanted.values:
            given.value, given.required = wanted.values[given.key], False

    return [visitors.cloned_traverse(condition, {}, {"bindparam": fill}) for condition in conditions]


def _condition(kind: Kind, manner: TermMatch, number: int, *, indexed: bool) -> ColumnElement[bool]:
    how, name, is_long = manner
    if how == "lacks":
        return lacks(kind, name)
    if how in ("from", "to"):
        end = kind.model.__table__.c[name]
        bound: Any = bindparam(f"bound_{number}", type_=end.type)
        return end >= bound if how == "from" else end <= bound
    text, other = f"text_{number}", f"digits_{number}"
    column, phones = kind.model.__table__.c.search_text, len(kind.filters) + 2
    condition = _holds(column, text, indexed=indexed and is_long)
    if how in ("filter", "phone"):
        part = 1 if name == "airport_name" else list(kind.filters).index(name) + 2
        condition = and_(condition, _in_part(column, part, text))
    if how in ("number", "phone"):
        condition = or_(condition, _in_part(column, phones, other))
    return condition


def _holds(column: Any, name: str, *, indexed: bool = False) -> ColumnElement[bool]:
    """Return the condition that a text holds the value of that name."""
    given = [bindparam(name, type_=Text())]
    if indexed:
        given.append(bindparam(f"{name}_like", type_=Text()))
    return text_holds(column, *given)


def _in_part(column: Any, number: int, name: str) -> ColumnElement[bool]:
    """Return the condition that a part of a search text holds the value of that name."""
    return part_holds(column, literal(PART), literal_column(str(number)), bindparam(name, type_=Text()))


def named_holds(kind: Kind, name: str, *, indexed: bool) -> ColumnElement[bool]:
    """Return the condition that the search text holds a value of that name; ``indexed`` as for ``texts``."""
    return _holds(kind.model.__table__.c.search_text, name, indexed=indexed)
