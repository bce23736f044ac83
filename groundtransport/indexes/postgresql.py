"""PostgreSQL: partial covering indexes, a GIN index of trigrams, triggers for the counters."""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection, text

from groundtransport.indexes.ddl import Part, gap_indexes, sort_indexes
from groundtransport.indexes.spec import BLOCK, LONG, NUMBER, SORT_MAX, TableSpec

STATISTICS = 2000  # sampled values, from which the planner estimates how many rows contain a search term
EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_trgm"
# Building a search index is several times as fast if it fits into memory. Valid until the connection is closed.
ROOM = "SET maintenance_work_mem = '256MB'"
FOLD_EVERY = 256  # rows of record_change, after which a writer moves them into the counters
# PostgreSQL's defaults of autovacuum_analyze_threshold (rows) and autovacuum_analyze_scale_factor (share of rows).
ANALYZED_FROM, ANALYZED_SHARE = 50, 0.1
# New entries are collected in the pending list and enter the search index together, in a fifth of the time. Every
# search reads the list, so it is short: 256 KiB are about 120 rows and take 0.2 ms.
PENDING_LIST = "fastupdate = on, gin_pending_list_limit = 256"

# Moves the rows of record_change into the counters. One transaction does so at a time; others skip it without waiting.
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

# Returns the planner's estimate of the live rows that match all LIKE patterns; it reads statistics, not rows.
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


def parts(spec: TableSpec) -> Iterator[Part]:
    """Yield the derived objects of a table in the order of creation."""
    table = spec.table
    live = " WHERE deleted_at IS NULL" if spec.soft else ""
    yield from sort_indexes(spec, _sort_columns)
    if spec.soft:
        name = f"ix_{table}_deleted"
        keys = "deleted_at NULLS FIRST, id"
        yield Part("index", name, f"CREATE INDEX {name} ON {table} ({keys}) WHERE deleted_at IS NOT NULL")
    yield from gap_indexes(spec, _text)
    name = f"ix_{table}_search"
    gin = f"USING gin (search_text gin_trgm_ops) WITH ({PENDING_LIST})"
    yield Part("index", name, f"CREATE INDEX {name} ON {table} {gin}{live}")
    yield Part("function", f"{table}_count()", _function(spec))
    for event, tables in _EVENTS.items():
        name = f"{table}_count_{event.lower()}"
        create = f"CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {tables} "
        yield Part("trigger", name, f"{create} FOR EACH STATEMENT EXECUTE FUNCTION {table}_count()", table)


_EVENTS = {
    "INSERT": "NEW TABLE AS new_rows",
    "UPDATE": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "OLD TABLE AS old_rows",
}


def _sort_columns(column: str, sort_type: str) -> str:
    """Return the columns of an index for sorting. INCLUDE makes the index covering, as its key is an expression."""
    if column == "id":
        return "(id NULLS FIRST)"
    if sort_type == NUMBER:
        return f"({column} NULLS FIRST, id)"
    return f"({_text(column, sort_type)} NULLS FIRST, id)" + (f" INCLUDE ({column})" if sort_type != LONG else "")


def _text(column: str, sort_type: str) -> str:
    """Return the sort expression of a text column, equal to what ``sort_key`` compiles to."""
    return (
        f'lower(substr({column}, 1, {SORT_MAX}) COLLATE "C")' if sort_type == LONG else f'lower({column} COLLATE "C")'
    )


def _function(spec: TableSpec) -> str:
    """Return the trigger function that records the changes of the counters."""
    return f"""
        CREATE OR REPLACE FUNCTION {spec.table}_count() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE first bigint; last bigint;
        BEGIN
            IF TG_OP = 'INSERT' THEN {_note(spec, _rows(spec, "new_rows", 1))}
            ELSIF TG_OP = 'DELETE' THEN {_note(spec, _rows(spec, "old_rows", -1))}
            ELSE {_note(spec, f"{_rows(spec, 'old_rows', -1)} UNION ALL {_rows(spec, 'new_rows', 1)}")}
            END IF;
            IF (first - 1) / {FOLD_EVERY} <> last / {FOLD_EVERY} THEN
                PERFORM record_fold();
            END IF;
            RETURN NULL;
        END $$
        """


def _rows(spec: TableSpec, source: str, n: int) -> str:
    """Return a SELECT of each row's airport, choice, block and ``n`` from a table or transition table."""
    choice = f"coalesce({spec.counted_by}, '')" if spec.counted_by else "''"
    live = "deleted_at IS NULL" if spec.soft else "true"
    code, pick = f"CASE WHEN {live} THEN airport_code ELSE '-' END", f"CASE WHEN {live} THEN {choice} ELSE '*' END"
    block = f"CASE WHEN {live} THEN id / {BLOCK} END"
    return f"SELECT {code} AS code, {pick} AS pick, {block} AS block, {n} AS n FROM {source}"


def _note(spec: TableSpec, rows: str) -> str:
    """Return the statement that inserts the sums of ``rows``, a SELECT by ``_rows``, into record_change."""
    return f"""
                WITH changed AS MATERIALIZED ({rows}),
                noted AS (
                    INSERT INTO record_change (kind, airport_code, choice, block, n)
                    SELECT '{spec.table}', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
                    UNION ALL
                    SELECT '{spec.table}', '', '', block, sum(n) FROM changed
                    WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
                    RETURNING id
                )
                SELECT min(id), max(id) INTO first, last FROM noted;"""


def tidy(connection: Connection, spec: TableSpec, changed: int, say: Callable[[str], None]) -> None:
    """Vacuum and analyze after a change of ``changed`` rows, as autovacuum would some time later.

    The connection must be in autocommit. Without current statistics, PostgreSQL plans searches and lists badly.
    """
    query = (
        "SELECT greatest(reltuples, 0), pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(:table)"
    )
    known_rows, is_owner = connection.execute(text(query), {"table": spec.table}).one()
    is_due = changed > ANALYZED_FROM + ANALYZED_SHARE * known_rows
    if is_owner:
        # Each list would read the dead rows that record_fold left.
        connection.exec_driver_sql("VACUUM (SKIP_LOCKED) record_change, record_count, record_block")
        if is_due:
            say(f"PostgreSQL updates its statistics of {spec.table}.")
            connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED, ANALYZE) {spec.table}")
    elif is_due:
        say(f"Lists are slow until autovacuum or the owner of the table runs: VACUUM ANALYZE {spec.table}")


def fill(spec: TableSpec) -> Iterator[str]:
    """Yield the statements that fill the derived objects: the counters; PostgreSQL fills the indexes."""
    yield from count_anew(spec)


def count_anew(spec: TableSpec) -> Iterator[str]:
    """Yield the statements that recount all rows. The caller must block writers of the table."""
    table = spec.table
    for name in ("record_count", "record_block", "record_change"):
        yield f"DELETE FROM {name} WHERE kind = '{table}'"
    yield f"""
        INSERT INTO record_count (kind, airport_code, choice, n)
        WITH pairs AS MATERIALIZED (SELECT code, pick, sum(n) AS n FROM ({_rows(spec, table, 1)}) AS r GROUP BY 1, 2),
        live AS (SELECT * FROM pairs WHERE code <> '-')
        SELECT '{table}', code, pick, n FROM pairs
        UNION ALL SELECT '{table}', code, '*', sum(n) FROM live GROUP BY code
        UNION ALL SELECT '{table}', '*', pick, sum(n) FROM live GROUP BY pick
        UNION ALL SELECT '{table}', '*', '*', coalesce(sum(n), 0) FROM live
        """
    yield f"""
        INSERT INTO record_block (kind, block, n)
        SELECT '{table}', block, sum(n) FROM ({_rows(spec, table, 1)}) AS r WHERE block IS NOT NULL GROUP BY block
        """
