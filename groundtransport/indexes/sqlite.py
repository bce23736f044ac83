"""SQLite: partial indexes, an FTS5 index of trigrams, and triggers that keep it and the counters."""

from collections.abc import Iterator

from groundtransport.indexes.ddl import Part, gap_indexes
from groundtransport.indexes.spec import BLOCK, NUMBER, TableSpec


def parts(facts: TableSpec) -> Iterator[Part]:
    """Yield what the table has besides its columns, in the order in which it is made."""
    table = facts.table
    live = " WHERE deleted_at IS NULL" if facts.soft else ""
    for column, manner in facts.sorts.items():
        name = f"ix_{table}_by_{column}"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} ({_key(column, manner)}){live}")
    if facts.soft:
        name = f"ix_{table}_deleted"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} (deleted_at) WHERE deleted_at IS NOT NULL")
    yield from gap_indexes(facts, _key)
    yield Part("view", f"{table}_live", f"CREATE VIEW {table}_live AS SELECT id, search_text FROM {table}{live}")
    yield Part(
        "table",
        f"{table}_search",
        f"CREATE VIRTUAL TABLE {table}_search USING fts5(search_text, content='{table}_live', content_rowid='id', "
        "tokenize='trigram case_sensitive 1', columnsize=0)",
    )
    yield Part(
        "table",
        f"{table}_search_terms",
        f"CREATE VIRTUAL TABLE {table}_search_terms USING fts5vocab({table}_search, row)",
    )
    yield from _triggers(facts)


def _key(column: str, manner: str) -> str:
    return column if manner == NUMBER else f"{column} COLLATE NOCASE"


def fill(facts: TableSpec) -> Iterator[str]:
    """Yield the statements that count and index all rows anew."""
    table = facts.table
    yield f"INSERT INTO {table}_search ({table}_search) VALUES ('rebuild')"
    yield from count_anew(facts)


def count_anew(facts: TableSpec) -> Iterator[str]:
    """Yield the statements that count all rows anew."""
    table, live = facts.table, "deleted_at IS NULL" if facts.soft else "1"
    choice = f"coalesce({facts.counted_by}, '')" if facts.counted_by else "''"
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
    if facts.soft:
        yield f"""
            INSERT INTO record_count (kind, airport_code, choice, n)
            SELECT '{table}', '-', '*', count(*) FROM {table} WHERE deleted_at IS NOT NULL
            """
    yield f"""
        INSERT INTO record_block (kind, block, n)
        SELECT '{table}', id / {BLOCK}, count(*) FROM {table} WHERE {live} GROUP BY 2
        """


def _triggers(facts: TableSpec) -> Iterator[Part]:
    table = facts.table
    old, new = _is_live(facts, "OLD"), _is_live(facts, "NEW")
    grouped = [name for name in ("airport_code", facts.counted_by) if name]
    gone = ["deleted_at"] if facts.soft else []
    turned = f"({old}) IS NOT ({new})"
    enter, leave = _enter(facts), _leave(facts)
    yield _trigger(table, "search_insert", "INSERT", new, [enter])
    yield _trigger(table, "search_delete", "DELETE", old, [leave])
    changed = f"OLD.search_text IS NOT NEW.search_text OR {turned}"
    of = ", ".join(["search_text", *gone])
    yield _trigger(table, "search_update", f"UPDATE OF {of}", changed, [leave, enter])

    plus, minus = _count(facts, "NEW", 1), _count(facts, "OLD", -1)
    yield _trigger(table, "count_insert", "INSERT", "1", plus)
    yield _trigger(table, "count_delete", "DELETE", "1", minus)
    changed = " OR ".join([*(f"OLD.{name} IS NOT NEW.{name}" for name in grouped), turned])
    of = ", ".join([*grouped, *gone])
    yield _trigger(table, "count_update", f"UPDATE OF {of}", changed, [*minus, *plus])


def _trigger(table: str, name: str, event: str, when: str, body: list[str]) -> Part:
    text = ";\n".join(body)
    create = f"CREATE TRIGGER {table}_{name} AFTER {event} ON {table} WHEN {when} BEGIN\n{text};\nEND"
    return Part("trigger", f"{table}_{name}", create)


def _is_live(facts: TableSpec, row: str) -> str:
    return f"{row}.deleted_at IS NULL" if facts.soft else "1"


def _enter(facts: TableSpec) -> str:
    live = _is_live(facts, "NEW")
    return f"INSERT INTO {facts.table}_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE {live}"


def _leave(facts: TableSpec) -> str:
    """FTS5 takes an entry out by its exact old text."""
    name, live = f"{facts.table}_search", _is_live(facts, "OLD")
    return f"INSERT INTO {name} ({name}, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE {live}"


def _count(facts: TableSpec, row: str, n: int) -> list[str]:
    kind, live = f"'{facts.table}'", _is_live(facts, row)
    choice = f"coalesce({row}.{facts.counted_by}, '')" if facts.counted_by else "''"
    into = "INSERT INTO record_count (kind, airport_code, choice, n)"
    add = f"ON CONFLICT DO UPDATE SET n = n + {n}"
    pairs = [(f"{row}.airport_code", choice), (f"{row}.airport_code", "'*'"), ("'*'", choice), ("'*'", "'*'")]
    found = [f"{into} SELECT {kind}, {code}, {value}, {n} WHERE {live} {add}" for code, value in pairs]
    if facts.soft:
        found.append(f"{into} SELECT {kind}, '-', '*', {n} WHERE NOT ({live}) {add}")
    block = f"INSERT INTO record_block (kind, block, n) SELECT {kind}, {row}.id / {BLOCK}, {n} WHERE {live} {add}"
    return [*found, block]
