"""SQL functions that compile to different SQL on SQLite and PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import ARRAY, Boolean, ColumnElement, Dialect, Text, TypeDecorator, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement, GenericFunction
from sqlalchemy.types import TypeEngine


class sort_text(GenericFunction[str]):  # noqa: N801  # named like an SQL function
    """Sort key of a text column: case-insensitive for ASCII, equal on both databases in every locale."""

    inherit_cache = True


@compiles(sort_text)
def _sort_text(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    # A collation instead of lower(), so that the index is covering. NOCASE folds ASCII letters, as lower() does.
    return f"{compiler.process(element.clauses, **options)} COLLATE NOCASE"


@compiles(sort_text, "postgresql")
def _sort_text_postgresql(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    return f'lower({compiler.process(element.clauses, **options)} COLLATE "C")'


class advisory_lock(GenericFunction[bool]):  # noqa: N801  # named like an SQL function
    """Condition on an id that is always true; evaluating it waits for the advisory lock of that row on PostgreSQL.

    Use it in a ``SELECT ... FOR UPDATE`` of one row by its id. PostgreSQL grants row locks to waiting transactions in
    no order, so some may wait for ever; it grants advisory locks in order. Do not use it for several rows (it would
    lock more rows than the result has), nor after locking the row without it (decision 60). On SQLite writers
    wait in order already (``sqlite_transactions``).
    """

    inherit_cache = True


@compiles(advisory_lock)
def _advisory_lock(element: object, compiler: object, **options: object) -> str:
    return "1 = 1"


@compiles(advisory_lock, "postgresql")
def _advisory_lock_postgresql(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    (key,) = element.clauses
    return f"pg_advisory_xact_lock(hashtext('{key.table.name}'), hashint8({compiler.process(key)})) IS NOT NULL"


class text_holds(FunctionElement[bool]):  # noqa: N801  # named like an SQL function
    """``text_holds(text, search[, pattern])`` is true if the text contains the search text.

    ``pattern`` is the LIKE pattern of the search text: PostgreSQL uses it to read the trigram index. Without it,
    PostgreSQL reads the text of each row.
    """

    inherit_cache = True
    type = Boolean()


@compiles(text_holds)
def _text_holds(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    text, search, *_ = element.clauses
    return f"instr({compiler.process(text, **options)}, {compiler.process(search, **options)}) > 0"


@compiles(text_holds, "postgresql")
def _text_holds_postgresql(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    text, search, *pattern = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{text} LIKE {pattern[0]}" if pattern else f"strpos({text}, {search}) > 0"


class part_holds(FunctionElement[bool]):  # noqa: N801  # named like an SQL function
    """``part_holds(text, separator, number, search)`` is true if part ``number``, from 1, contains the search text."""

    inherit_cache = True
    type = Boolean()


@compiles(part_holds)
def _part_holds(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    # split_part is a slow Python function on SQLite, so a cheaper condition is evaluated first. It needs CASE:
    # SQLAlchemy appends "= 1" to the expression, and with AND SQLite would evaluate both operands.
    text, separator, number, search = (compiler.process(clause, **options) for clause in element.clauses)
    first = f"instr({text}, {separator})"
    if number == "1":
        return f"instr(substr({text}, 1, {first} - 1), {search}) > 0"
    rest = f"instr(substr({text}, {first} + 1), {search}) > 0"
    return f"CASE WHEN {rest} THEN instr(split_part({text}, {separator}, {number}), {search}) > 0 ELSE 0 END"


@compiles(part_holds, "postgresql")
def _part_holds_postgresql(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    text, separator, number, search = (compiler.process(clause, **options) for clause in element.clauses)
    return f"strpos(split_part({text}, {separator}, {number}), {search}) > 0"


class ValueList(TypeDecorator[Sequence[object]]):
    """Type of a bind parameter that holds a list of values: an array on PostgreSQL, JSON on SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, item_type: TypeEngine[object]) -> None:
        super().__init__()
        self.item_type = item_type

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the database."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(ARRAY(self.item_type))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: Sequence[object] | None, dialect: Dialect) -> object:
        values = list(value or ())
        return values if dialect.name == "postgresql" else orjson.dumps(values).decode()


# These two have no type: to a condition of the type Boolean SQLAlchemy appends "= 1" on SQLite, and no index fits.


class _is_one_of(FunctionElement[bool]):  # noqa: N801  # named like an SQL function
    inherit_cache = True


def is_one_of(column: ColumnElement[object], name: str) -> ColumnElement[bool]:
    """Return the condition that a column has one of the values of the parameter ``name``, a list.

    The text of the statement is the same for any number of values. So SQLAlchemy compiles it once, and psycopg reads it
    once; ``IN`` with a parameter for each value would be read anew for each number of them.
    """
    return _is_one_of(column, bindparam(name, type_=ValueList(column.type)))


@compiles(_is_one_of)
def _is_one_of_json(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608  # a column and a bind parameter


@compiles(_is_one_of, "postgresql")
def _is_one_of_array(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY ({values})"


class _are_one_of(FunctionElement[bool]):  # noqa: N801  # named like an SQL function
    inherit_cache = True


def are_one_of(first: ColumnElement[str], second: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that two text columns have one of the pairs of the parameter ``name``, a JSON array."""
    return _are_one_of(first, second, bindparam(name, type_=Text()))


@compiles(_are_one_of)
def _are_one_of_sqlite(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    *columns, pairs = (compiler.process(clause, **options) for clause in element.clauses)
    query = f"SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each({pairs})"  # noqa: S608  # a parameter
    return f"({', '.join(columns)}) IN ({query})"


@compiles(_are_one_of, "postgresql")
def _are_one_of_postgresql(element: FunctionElement[object], compiler: SQLCompiler, **options: object) -> str:
    *columns, pairs = (compiler.process(clause, **options) for clause in element.clauses)
    query = f"SELECT value ->> 0, value ->> 1 FROM json_array_elements(CAST({pairs} AS JSON))"  # noqa: S608  # a parameter
    return f"({', '.join(columns)}) IN ({query})"
