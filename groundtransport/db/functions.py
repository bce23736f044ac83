"""Functions of SQL that say one thing to both databases. Imports nothing of ours."""

from typing import Any

from sqlalchemy import Boolean
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement, GenericFunction


class sort_text(GenericFunction[str]):  # noqa: N801  # called like a function of SQL
    """A text as lists sort it: without case, alike on both databases whatever the server's locale."""

    inherit_cache = True


@compiles(sort_text)
def _sort_text(element: Any, compiler: Any, **options: Any) -> str:
    # Plain columns, not lower(): SQLite then answers from the index alone. NOCASE folds what lower() does, ASCII.
    return f"{compiler.process(element.clauses, **options)} COLLATE NOCASE"


@compiles(sort_text, "postgresql")
def _sort_text_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    return f'lower({compiler.process(element.clauses, **options)} COLLATE "C")'


class advisory_lock(GenericFunction[bool]):  # noqa: N801  # called like a function of SQL
    """True, of the id of the one row that a SELECT finds by it and locks: when those who asked before have had it.

    PostgreSQL lets whoever comes take a row that was just updated, and of many some wait for ever; its advisory locks
    are given in turn. Not for a SELECT of several rows, which would take more locks than rows, and in no order; nor for
    a row that the same transaction locked without it (decision 60). SQLite's writers wait in db/fifo_lock.py.
    """

    inherit_cache = True


@compiles(advisory_lock)
def _in_turn(element: Any, compiler: Any, **options: Any) -> str:
    return "1 = 1"


@compiles(advisory_lock, "postgresql")
def _in_turn_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    (key,) = element.clauses
    return f"pg_advisory_xact_lock(hashtext('{key.table.name}'), hashint8({compiler.process(key)})) IS NOT NULL"


class text_holds(FunctionElement[bool]):  # noqa: N801  # called like a function of SQL
    """Whether the first text holds the second; the third is the pattern of LIKE for it, which PostgreSQL's index knows.

    Without a third, PostgreSQL reads the text.
    """

    inherit_cache = True
    type = Boolean()


@compiles(text_holds)
def _text_holds(element: Any, compiler: Any, **options: Any) -> str:
    text, sought, *_ = element.clauses
    return f"instr({compiler.process(text, **options)}, {compiler.process(sought, **options)}) > 0"


@compiles(text_holds, "postgresql")
def _text_holds_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    text, sought, *pattern = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{text} LIKE {pattern[0]}" if pattern else f"strpos({text}, {sought}) > 0"


class part_holds(FunctionElement[bool]):  # noqa: N801  # called like a function of SQL
    """Whether a part of a text holds a text: of the text, the separator of its parts, the number from 1, the sought."""

    inherit_cache = True
    type = Boolean()


@compiles(part_holds)
def _part_holds(element: Any, compiler: Any, **options: Any) -> str:
    # split_part is Python's there: it is asked last. CASE, as SQLAlchemy puts "= 1" behind, which looks at both sides.
    text, separator, number, sought = (compiler.process(clause, **options) for clause in element.clauses)
    first = f"instr({text}, {separator})"
    if number == "1":
        return f"instr(substr({text}, 1, {first} - 1), {sought}) > 0"
    behind = f"instr(substr({text}, {first} + 1), {sought}) > 0"
    return f"CASE WHEN {behind} THEN instr(split_part({text}, {separator}, {number}), {sought}) > 0 ELSE 0 END"


@compiles(part_holds, "postgresql")
def _part_holds_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    text, separator, number, sought = (compiler.process(clause, **options) for clause in element.clauses)
    return f"strpos(split_part({text}, {separator}, {number}), {sought}) > 0"
