"""PostgreSQL: partial covering indexes, GIN indexes of trigrams and of rare signs, triggers that note what to count."""

import re
from collections.abc import Callable, Iterator

from sqlalchemy import Connection, text

from groundtransport.indexes.ddl import Part, gap_indexes
from groundtransport.indexes.spec import BLOCK, LONG, NUMBER, SORT_MAX, TableSpec

STATISTICS = 2000  # values that the planner looks at to guess how many rows hold a word
EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_trgm"
# An index of searches is made in a fraction of the time when its pieces fit; until the connection is closed.
ROOM = "SET maintenance_work_mem = '256MB'"
FOLD_EVERY = 256  # rows of record_change
# Rows, and a share of those that the planner knows of: autovacuum_analyze_threshold and _scale_factor, as they come.
ANALYZED_FROM, ANALYZED_SHARE = 50, 0.1
# Rows wait in a list and enter the index of searches together, some hundred times a word's pieces in one go: that takes
# a fifth of the time. Every search reads the list, so it is kept short: 256 KiB are about 120 rows, and 0.2 ms.
WAITING = "fastupdate = on, gin_pending_list_limit = 256"
# What stands after a Latin letter or a digit, but for other scripts, and for quotes and dashes of typographers. pg_trgm
# asks its index for each of such signs, if none is beyond U+07FF (MAX_SIMPLE_CHR of PostgreSQL's regular expressions).
USUAL_AFTER = r"a-z0-9æðøþđħıłŋœŧ\u0001-/:-@\[-`{-\u007f"
PUNCTUATION = "&'()+,./:-"
# The signs of a text that are rare in names, addresses and numbers, all other scripts among them, have an index of
# their own: trigrams know no word of one or two characters, and of punctuation nothing at all. Usual ones are rare
# before what they rarely stand before: a letter before another script, a mark before a mark. One regular expression
# for both languages, Python's and PostgreSQL's. Whoever changes it gives its index another name, by a migration: one of
# another expression is never asked, and nothing notices.
USUAL_SIGNS = rf"(?:[\u0001-\u0020]|[a-z0-9](?![^{USUAL_AFTER}])|[{PUNCTUATION}](?![{PUNCTUATION}]))+"
RARE_SIGNS = "string_to_array(regexp_replace(search_text, '{}', '', 'g'), NULL)".format(USUAL_SIGNS.replace("'", "''"))

# Moves the noted changes into the counters. Only one transaction does so at a time; nobody waits for it.
FOLD = """
CREATE OR REPLACE FUNCTION record_fold() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('record_fold')) THEN
        RETURN;
    END IF;
    WITH gone AS (DELETE FROM record_change RETURNING kind, airport_code, choice, block, n),
    blocks AS (
        INSERT INTO record_block AS b (kind, block, n)
        SELECT kind, block, sum(n) FROM gone WHERE block >= 0 GROUP BY kind, block
        ON CONFLICT (kind, block) DO UPDATE SET n = b.n + excluded.n
    )
    INSERT INTO record_count AS c (kind, airport_code, choice, n)
    SELECT gone.kind, each.code, each.choice, sum(gone.n) FROM gone
    CROSS JOIN LATERAL (
        SELECT gone.airport_code, gone.choice
        UNION SELECT gone.airport_code, '*'
        UNION SELECT '*', gone.choice WHERE gone.airport_code <> '-'
        UNION SELECT '*', '*' WHERE gone.airport_code <> '-'
    ) AS each (code, choice)
    WHERE gone.block < 0
    GROUP BY 1, 2, 3
    ON CONFLICT (kind, airport_code, choice) DO UPDATE SET n = c.n + excluded.n;
END $$
"""

# How many live rows hold all patterns, as the planner guesses: it reads statistics, no rows.
ESTIMATE = """
CREATE OR REPLACE FUNCTION record_estimate(source text, live text, patterns text[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT 1 FROM %I WHERE search_text LIKE ALL (%L::text[])', source, patterns)
        || CASE live WHEN '' THEN '' ELSE ' AND deleted_at IS NULL' END INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::numeric::bigint;
END $$
"""
FUNCTIONS = {"record_fold()": FOLD, "record_estimate(text, text, text[])": ESTIMATE}


def parts(facts: TableSpec) -> Iterator[Part]:
    """Yield what the table has besides its columns, in the order in which it is made."""
    table = facts.table
    live = " WHERE deleted_at IS NULL" if facts.soft else ""
    for column, manner in facts.sorts.items():
        name = f"ix_{table}_by_{column}"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} ({_key(column, manner)}{live}")
    if facts.soft:
        name = f"ix_{table}_deleted"
        keys = "deleted_at NULLS FIRST, id"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} ({keys}) WHERE deleted_at IS NOT NULL")
    yield from gap_indexes(facts, _text)
    name = f"ix_{table}_search"
    gin = f"USING gin (search_text gin_trgm_ops) WITH ({WAITING})"
    yield Part("index", name, f"CREATE INDEX {name} ON {table} {gin}{live}")
    name = f"ix_{table}_rare_signs"
    yield Part("index", name, f"CREATE INDEX {name} ON {table} USING gin (({RARE_SIGNS})) WITH ({WAITING}){live}")
    yield Part("function", f"{table}_count()", _function(facts))
    for event, tables in _EVENTS.items():
        name = f"{table}_count_{event.lower()}"
        create = f"CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {tables} "
        yield Part("trigger", name, f"{create} FOR EACH STATEMENT EXECUTE FUNCTION {table}_count()", table)


_EVENTS = {
    "INSERT": "NEW TABLE AS new_rows",
    "UPDATE": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "OLD TABLE AS old_rows",
}


def rare_signs(text: str) -> set[str]:
    """Return the signs that RARE_SIGNS finds in a folded text; in any that holds it, it finds these at least."""
    return set(re.sub(USUAL_SIGNS, "", text))


def is_pair(text: str) -> bool:
    """Whether the index of trigrams can be asked for this text of two characters, by ``continued``."""
    return re.fullmatch("[a-z0-9]{2}", text) is not None


def continued(pair: str) -> str:
    """Return the regular expression of a pair and what usually follows: the index has some fifty trigrams of it.

    A text that holds the pair, but not so, has its second character among the rare signs. Nothing ends with a pair:
    behind it, there is a separator at least.
    """
    return f"{pair}[{USUAL_AFTER}]"


def _key(column: str, manner: str) -> str:
    """Return the columns of a sort's index; what it sorts by is included, else the index alone could not answer."""
    if column == "id":
        return "id NULLS FIRST)"
    if manner == NUMBER:
        return f"{column} NULLS FIRST, id)"
    return f"{_text(column, manner)} NULLS FIRST, id)" + (f" INCLUDE ({column})" if manner != LONG else "")


def _text(column: str, manner: str) -> str:
    """Return a text as lists sort it: what ``sort_key`` compiles to."""
    return f'lower(substr({column}, 1, {SORT_MAX}) COLLATE "C")' if manner == LONG else f'lower({column} COLLATE "C")'


def _function(facts: TableSpec) -> str:
    return f"""
        CREATE OR REPLACE FUNCTION {facts.table}_count() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE first bigint; last bigint;
        BEGIN
            IF TG_OP = 'INSERT' THEN {_note(facts, _rows(facts, "new_rows", 1))}
            ELSIF TG_OP = 'DELETE' THEN {_note(facts, _rows(facts, "old_rows", -1))}
            ELSE {_note(facts, f"{_rows(facts, 'old_rows', -1)} UNION ALL {_rows(facts, 'new_rows', 1)}")}
            END IF;
            IF (first - 1) / {FOLD_EVERY} <> last / {FOLD_EVERY} THEN
                PERFORM record_fold();
            END IF;
            RETURN NULL;
        END $$
        """


def _rows(facts: TableSpec, source: str, n: int) -> str:
    choice = f"coalesce({facts.counted_by}, '')" if facts.counted_by else "''"
    live = "deleted_at IS NULL" if facts.soft else "true"
    code, pick = f"CASE WHEN {live} THEN airport_code ELSE '-' END", f"CASE WHEN {live} THEN {choice} ELSE '*' END"
    block = f"CASE WHEN {live} THEN id / {BLOCK} END"
    return f"SELECT {code} AS code, {pick} AS pick, {block} AS block, {n} AS n FROM {source}"


def _note(facts: TableSpec, rows: str) -> str:
    return f"""
                WITH changed AS MATERIALIZED ({rows}),
                noted AS (
                    INSERT INTO record_change (kind, airport_code, choice, block, n)
                    SELECT '{facts.table}', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
                    UNION ALL
                    SELECT '{facts.table}', '', '', block, sum(n) FROM changed
                    WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
                    RETURNING id
                )
                SELECT min(id), max(id) INTO first, last FROM noted;"""


def tidy(connection: Connection, facts: TableSpec, changed: int, say: Callable[[str], None]) -> None:
    """Do at once, after ``changed`` rows of a table were, what autovacuum does a while later, where it is on.

    The connection is in autocommit. Without statistics of its texts, searches and lists are planned at a venture.
    """
    asked = (
        "SELECT greatest(reltuples, 0), pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(:table)"
    )
    known, is_ours = connection.execute(text(asked), {"table": facts.table}).one()
    is_due = changed > ANALYZED_FROM + ANALYZED_SHARE * known
    if is_ours:
        # Of rows that were moved into the counters, each list would read what is left.
        connection.exec_driver_sql("VACUUM (SKIP_LOCKED) record_change, record_count, record_block")
        if is_due:
            say(f"PostgreSQL takes stock of {facts.table}.")
            connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED, ANALYZE) {facts.table}")
    elif is_due:
        say(f"Lists are quick again once autovacuum or the owner of the table has done: VACUUM ANALYZE {facts.table}")


def fill(facts: TableSpec) -> Iterator[str]:
    """Yield the statements that count all rows anew; the indexes fill themselves."""
    yield from count_anew(facts)


def count_anew(facts: TableSpec) -> Iterator[str]:
    """Yield the statements that count all rows anew. The caller holds the table's writers off."""
    table = facts.table
    for name in ("record_count", "record_block", "record_change"):
        yield f"DELETE FROM {name} WHERE kind = '{table}'"
    yield f"""
        INSERT INTO record_count (kind, airport_code, choice, n)
        WITH pairs AS MATERIALIZED (SELECT code, pick, sum(n) AS n FROM ({_rows(facts, table, 1)}) AS r GROUP BY 1, 2),
        live AS (SELECT * FROM pairs WHERE code <> '-')
        SELECT '{table}', code, pick, n FROM pairs
        UNION ALL SELECT '{table}', code, '*', sum(n) FROM live GROUP BY code
        UNION ALL SELECT '{table}', '*', pick, sum(n) FROM live GROUP BY pick
        UNION ALL SELECT '{table}', '*', '*', coalesce(sum(n), 0) FROM live
        """
    yield f"""
        INSERT INTO record_block (kind, block, n)
        SELECT '{table}', block, sum(n) FROM ({_rows(facts, table, 1)}) AS r WHERE block IS NOT NULL GROUP BY block
        """
