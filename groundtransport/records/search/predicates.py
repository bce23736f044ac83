"""WHERE clauses of search criteria; ``Criteria.values`` holds the values of their bind parameters."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Text,
    and_,
    bindparam,
    literal,
    literal_column,
    or_,
    select,
    table,
)
from sqlalchemy import (
    column as sql_column,
)
from sqlalchemy.sql import visitors

from groundtransport.db import AnySelect
from groundtransport.db.functions import part_holds, text_holds
from groundtransport.indexes import sort_key
from groundtransport.records.kind import Kind
from groundtransport.records.search.link_states import has_link_state
from groundtransport.records.search.terms import Criteria, TermMatch
from groundtransport.text import PART


def fields_empty(kind: Kind, name: str) -> ColumnElement[bool]:
    """Return the condition that every field of a text filter is empty, in the form of the index of its sort."""
    return and_(*(sort_key(kind.model.__table__.c[field]).is_(None) for field in kind.filters[name]))


def is_marked(kind: Kind, name: str) -> ColumnElement[bool]:
    """Return the condition that a column is true, in the form of its index."""
    column: ColumnElement[bool] = kind.model.__table__.c[name]
    return column


def group_conditions(kind: Kind, criteria: Criteria) -> list[ColumnElement[bool]]:
    """Return the conditions by exact value (airport, choices), in the form of the indexes of the sorts."""
    columns = kind.model.__table__.c
    keys = {name: sort_key(columns[name]) for name in criteria.groups}
    types = {name: Text() if key is not columns[name] else key.type for name, key in keys.items()}
    return [key == bindparam(f"of_{name}", type_=types[name]) for name, key in keys.items()]


def text_conditions(kind: Kind, criteria: Criteria, *, indexed: bool = False) -> list[ColumnElement[bool]]:
    """Return the conditions on the search text, one for each term and filter.

    ``indexed`` gives them in the form of PostgreSQL's trigram index. Without it, PostgreSQL does not use that index,
    which it would read as a whole for a term of one or two characters: seconds that no time limit interrupts.
    """
    return [_condition(kind, match, number, indexed=indexed) for number, match in enumerate(criteria.matches)]


def phone_conditions(kind: Kind, criteria: Criteria) -> list[ColumnElement[bool]]:
    """Return weaker conditions for telephone numbers, in any part of the text, that PostgreSQL's index can answer."""
    column = kind.model.__table__.c.search_text
    return [
        or_(_contains(column, f"text_{number}", indexed=True), _contains(column, f"digits_{number}", indexed=True))
        for number, match in enumerate(criteria.matches)
        if match.is_indexed and match.mode in ("number", "phone")
    ]


def bind_values(conditions: Iterable[ColumnElement[bool]], criteria: Criteria) -> list[ColumnElement[bool]]:
    """Return the conditions with their values bound, for statements that are executed without parameters."""

    def bind(param: BindParameter[Any]) -> None:
        if param.key in criteria.values:
            param.value, param.required = criteria.values[param.key], False

    return [visitors.cloned_traverse(condition, {}, {"bindparam": bind}) for condition in conditions]


def contains_param(kind: Kind, name: str, *, indexed: bool) -> ColumnElement[bool]:
    """Return the condition that the search text contains the bind parameter; ``indexed`` as in ``text_conditions``."""
    return _contains(kind.model.__table__.c.search_text, name, indexed=indexed)


def _condition(kind: Kind, match: TermMatch, number: int, *, indexed: bool) -> ColumnElement[bool]:
    """Return the condition of the term or filter with this number in ``Criteria.matches``."""
    if match.mode == "empty":
        return fields_empty(kind, match.filter_name)
    if match.mode in ("from", "to", "before", "since", "unset"):
        return _end_condition(kind.model.__table__.c[match.filter_name], match.mode, f"bound_{number}")
    if match.mode == "batch":
        return kind.model.__table__.c.id.in_(_records_of_batch(kind, f"bound_{number}"))
    if match.mode == "link":
        return has_link_state(kind, match.filter_name)
    if match.mode == "marked":
        return is_marked(kind, match.filter_name)
    text, number_digits = f"text_{number}", f"digits_{number}"
    column, phones = kind.model.__table__.c.search_text, len(kind.filters) + 2
    condition = _contains(column, text, indexed=indexed and match.is_indexed)
    if match.mode in ("filter", "phone"):
        part = 1 if match.filter_name == "airport_name" else list(kind.filters).index(match.filter_name) + 2
        condition = and_(condition, _part_contains(column, part, text))
    if match.mode in ("number", "phone"):
        condition = or_(condition, _part_contains(column, phones, number_digits))
    return condition


def _end_condition(column: ColumnElement[object], mode: str, name: str) -> ColumnElement[bool]:
    """Return the condition of one end of a range whose bound is the bind parameter ``name``."""
    bound: object = bindparam(name, type_=column.type)
    conditions: dict[str, Callable[[], ColumnElement[bool]]] = {
        "from": lambda: column >= bound,
        "to": lambda: column <= bound,
        "before": lambda: or_(column.is_(None), column < bound),
        "since": lambda: or_(column.is_(None), column >= bound),
        "unset": lambda: column.is_(None),
    }
    return conditions[mode]()


# The model stands above this package, which only reads these columns.
_LOG = table("admin_activity", sql_column("kind", Text()), sql_column("record_id"), sql_column("batch", Text()))


def _records_of_batch(kind: Kind, name: str) -> AnySelect:
    """Return the SELECT of the ids of a kind's records with a log entry of the batch in the bind parameter."""
    conditions = (_LOG.c.kind == literal(kind.name), _LOG.c.batch == bindparam(name, type_=Text()))
    return select(_LOG.c.record_id).where(*conditions)


def _contains(column: ColumnElement[str], name: str, *, indexed: bool = False) -> ColumnElement[bool]:
    params = [bindparam(name, type_=Text())]
    if indexed:
        params.append(bindparam(f"{name}_like", type_=Text()))
    return text_holds(column, *params)


def _part_contains(column: ColumnElement[str], number: int, name: str) -> ColumnElement[bool]:
    return part_holds(column, literal(PART), literal_column(str(number)), bindparam(name, type_=Text()))
