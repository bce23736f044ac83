"""SQLite: partial indexes, an FTS5 trigram index, and triggers that update it and the counters."""

from collections.abc import Iterator

from groundtransport.indexes.ddl import Part, gap_indexes, sort_indexes
from groundtransport.indexes.spec import BLOCK, NUMBER, TableSpec


def parts(spec: TableSpec) -> Iterator[Part]:
    """Yield the derived objects of a table in the order of creation."""
    table = spec.table
    live = " WHERE deleted_at IS NULL" if spec.soft else ""
    yield from sort_indexes(spec, lambda column, sort_type: f"({_key(column, sort_type)})")
    if spec.soft:
        name = f"ix_{table}_deleted"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} (deleted_at) WHERE deleted_at IS NOT NULL")
    yield from gap_indexes(spec, _key)
    yield Part("view", f"{table}_live", f"CREATE VIEW {table}_live AS SELECT id, search_text FROM {table}{live}")
    yield Part(
        "table",
        f"{table}_search",
        f"CREATE VIRTUAL TABLE {table}_search USING fts5(search_text, content='{table}_live', content_rowid='id', "
        "tokenize='trigram case_sensitive 1', columnsize=0)",
    )
    yield from _triggers(spec)


def _key(column: str, sort_type: str) -> str:
    """Return the sort expression of a column."""
    return column if sort_type == NUMBER else f"{column} COLLATE NOCASE"


def fill(spec: TableSpec) -> Iterator[str]:
    """Yield the statements that rebuild the search index and the counters."""
    table = spec.table
    yield f"INSERT INTO {table}_search ({table}_search) VALUES ('rebuild')"
    yield from count_anew(spec)


def count_anew(spec: TableSpec) -> Iterator[str]:
    """Yield the statements that recount all rows."""
    table, live = spec.table, "deleted_at IS NULL" if spec.soft else "1"
    choice = f"coalesce({spec.counted_by}, '')" if spec.counted_by else "''"
    for name in ("record_count", "record_block"):
        yield f"DELETE FROM {name} WHERE kind = '{table}'"
    yield f"""
        INSERT INTO record_count (kind, airport_code, choice, n)
        WITH pairs AS MATERIALIZED (
            SELECT airport_code AS code, {choice} AS choice, count(*) AS n FROM {table} WHERE {live} GROUP BY 1, 2)
        SELECT '{table}', code, choice, n FROM pairs
        UNION ALL SELECT '{table}', code, '*', sum(n) FROM pairs GROUP BY code
        UNION ALL SELECT '{table}', '*', choice, sum(n) FROM pairs GROUP BY choice
        UNION ALL SELECT '{table}', '*', '*', coalesce(sum(n), 0) FROM pairs
        """
    if spec.soft:
        yield f"""
            INSERT INTO record_count (kind, airport_code, choice, n)
            SELECT '{table}', '-', '*', count(*) FROM {table} WHERE deleted_at IS NOT NULL
            """
    yield f"""
        INSERT INTO record_block (kind, block, n)
        SELECT '{table}', id / {BLOCK}, count(*) FROM {table} WHERE {live} GROUP BY 2
        """


def _triggers(spec: TableSpec) -> Iterator[Part]:
    table = spec.table
    old, new = _is_live(spec, "OLD"), _is_live(spec, "NEW")
    grouped = [name for name in ("airport_code", spec.counted_by) if name]
    deletion = ["deleted_at"] if spec.soft else []
    is_toggled = f"({old}) IS NOT ({new})"
    insert, delete = _search_insert(spec), _search_delete(spec)
    yield _trigger(table, "search_insert", "INSERT", new, [insert])
    yield _trigger(table, "search_delete", "DELETE", old, [delete])
    changed = f"OLD.search_text IS NOT NEW.search_text OR {is_toggled}"
    of = ", ".join(["search_text", *deletion])
    yield _trigger(table, "search_update", f"UPDATE OF {of}", changed, [delete, insert])

    add, subtract = _count(spec, "NEW", 1), _count(spec, "OLD", -1)
    yield _trigger(table, "count_insert", "INSERT", "1", add)
    yield _trigger(table, "count_delete", "DELETE", "1", subtract)
    changed = " OR ".join([*(f"OLD.{name} IS NOT NEW.{name}" for name in grouped), is_toggled])
    of = ", ".join([*grouped, *deletion])
    yield _trigger(table, "count_update", f"UPDATE OF {of}", changed, [*subtract, *add])


def _trigger(table: str, name: str, event: str, when: str, body: list[str]) -> Part:
    text = ";\n".join(body)
    create = f"CREATE TRIGGER {table}_{name} AFTER {event} ON {table} WHEN {when} BEGIN\n{text};\nEND"
    return Part("trigger", f"{table}_{name}", create)


def _is_live(spec: TableSpec, row: str) -> str:
    return f"{row}.deleted_at IS NULL" if spec.soft else "1"


def _search_insert(spec: TableSpec) -> str:
    live = _is_live(spec, "NEW")
    return f"INSERT INTO {spec.table}_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE {live}"


def _search_delete(spec: TableSpec) -> str:
    """Return the statement that removes an entry of the search index; FTS5 needs its exact old text."""
    name, live = f"{spec.table}_search", _is_live(spec, "OLD")
    return f"INSERT INTO {name} ({name}, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE {live}"


def _count(spec: TableSpec, row: str, n: int) -> list[str]:
    """Return the statements that add ``n`` to the counters of ``row``, NEW or OLD."""
    kind, live = f"'{spec.table}'", _is_live(spec, row)
    choice = f"coalesce({row}.{spec.counted_by}, '')" if spec.counted_by else "''"
    into = "INSERT INTO record_count (kind, airport_code, choice, n)"
    add = f"ON CONFLICT DO UPDATE SET n = n + {n}"
    pairs = [(f"{row}.airport_code", choice), (f"{row}.airport_code", "'*'"), ("'*'", choice), ("'*'", "'*'")]
    statements = [f"{into} SELECT {kind}, {code}, {value}, {n} WHERE {live} {add}" for code, value in pairs]
    if spec.soft:
        statements.append(f"{into} SELECT {kind}, '-', '*', {n} WHERE NOT ({live}) {add}")
    block = f"INSERT INTO record_block (kind, block, n) SELECT {kind}, {row}.id / {BLOCK}, {n} WHERE {live} {add}"
    return [*statements, block]
