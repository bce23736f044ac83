"""The database triggers that make the logs append-only: detect missing ones, and create them again.

Migrations created them. The statements here are their current definitions.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, text

ENTRIES = "the activity log is append-only"
MARKS = "marks of the activity log are append-only"
EVENTS = "the security log is append-only"
UNCOVERED = "OLD.id > (SELECT coalesce(max(number), 0) FROM audit_mark WHERE reason = 'archive')"


@dataclass(frozen=True)
class Guard:
    """A trigger or its function. ``text`` is its definition in the database's catalogue; the others are statements."""

    name: str
    text: str
    create: str
    drop: str = ""


def _sqlite(name: str, table: str, when: str, message: str, condition: str = "") -> Guard:
    guarded = f" WHEN {condition}" if condition else ""
    body = f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    create = f"CREATE TRIGGER {name} BEFORE {when} ON {table}{guarded} {body}"
    return Guard(name, create, create, f"DROP TRIGGER IF EXISTS {name}")


def _replaced(table: str) -> str:
    return f"EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"  # noqa: S608  # built from constants


def _function(name: str, body: str) -> Guard:
    create = f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
    return Guard(f"{name}()", body, create)


def _postgresql(name: str, table: str, when: str, each: str, function: str) -> Guard:
    create = f"CREATE TRIGGER {name} BEFORE {when} ON {table} FOR EACH {each} EXECUTE FUNCTION {function}()"
    return Guard(name, create, create, f"DROP TRIGGER IF EXISTS {name} ON {table}")


_APPEND_ONLY, _EVENTS_ONLY = "admin_activity_is_append_only", "security_event_is_append_only"
SQLITE = (
    _sqlite("admin_activity_no_replace", "admin_activity", "INSERT", ENTRIES, _replaced("admin_activity")),
    _sqlite("admin_activity_no_update", "admin_activity", "UPDATE", ENTRIES),
    _sqlite("admin_activity_no_delete", "admin_activity", "DELETE", ENTRIES, UNCOVERED),
    _sqlite("audit_mark_no_replace", "audit_mark", "INSERT", MARKS, _replaced("audit_mark")),
    _sqlite("audit_mark_no_update", "audit_mark", "UPDATE", MARKS),
    _sqlite("audit_mark_no_delete", "audit_mark", "DELETE", MARKS),
    _sqlite("security_event_no_replace", "security_event", "INSERT", EVENTS, _replaced("security_event")),
    _sqlite("security_event_no_update", "security_event", "UPDATE", EVENTS),
)
POSTGRESQL = (
    _function(
        _APPEND_ONLY,
        """
        BEGIN
            IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'admin_activity' THEN
                IF OLD.id <= (SELECT coalesce(max(number), 0) FROM audit_mark WHERE reason = 'archive') THEN
                    RETURN OLD;
                END IF;
            END IF;
            RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
        END
        """,
    ),
    _function(_EVENTS_ONLY, f"BEGIN RAISE EXCEPTION '{EVENTS}'; END"),
    _postgresql("admin_activity_no_change", "admin_activity", "DELETE OR UPDATE", "ROW", _APPEND_ONLY),
    _postgresql("admin_activity_no_truncate", "admin_activity", "TRUNCATE", "STATEMENT", _APPEND_ONLY),
    _postgresql("audit_mark_no_change", "audit_mark", "DELETE OR UPDATE", "ROW", _APPEND_ONLY),
    _postgresql("audit_mark_no_truncate", "audit_mark", "TRUNCATE", "STATEMENT", _APPEND_ONLY),
    _postgresql("security_event_no_update", "security_event", "UPDATE", "ROW", _EVENTS_ONLY),
)
# Those that refuse updates of entries, of SQLite and of PostgreSQL.
UPDATE_GUARDS = ("admin_activity_no_update", "admin_activity_no_change")
_EXISTING = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    # Triggers that are disabled, or that fire on replicas only, are not listed.
    "postgresql": """
        SELECT tgname, pg_get_triggerdef(oid, true) FROM pg_trigger WHERE tgenabled IN ('O', 'A') AND tgrelid IN
            (to_regclass('admin_activity'), to_regclass('audit_mark'), to_regclass('security_event'))
        UNION ALL SELECT proname || '()', prosrc FROM pg_proc
        WHERE proname LIKE '%is_append_only' AND pg_function_is_visible(oid)
    """,
}


def missing(connection: Connection) -> list[Guard]:
    """Return the triggers and functions that are missing, disabled or changed."""
    rows = connection.execute(text(_EXISTING[connection.dialect.name]))
    definitions = {name: _normal(definition) for name, definition in rows}
    return [guard for guard in _guards(connection) if definitions.get(guard.name) != _normal(guard.text)]


def check(connection: Connection) -> Iterator[str]:
    """Yield a message for each trigger or function that is missing or changed."""
    for guard in missing(connection):
        yield f"the logs: {guard.name}, which prevents changes of entries, is missing or was changed"


def restore(connection: Connection, report: Callable[[str], object] = str) -> None:
    """Create missing triggers in the connection's transaction; ``report`` receives a message for each.

    On PostgreSQL, the connection's role must own the tables.
    """
    for guard in missing(connection):
        report(f"Restoring the trigger {guard.name}")
        _run(connection, guard.drop, guard.create)


@contextmanager
def lifted(connection: Connection, names: Collection[str] = ()) -> Iterator[None]:
    """Drop the triggers, or those with ``names``, for the body of the ``with`` statement, in its transaction.

    Only for the update of derived columns.
    """
    for guard in _guards(connection):
        if guard.name in names or not names:
            _run(connection, guard.drop)
    yield
    restore(connection)


def _guards(connection: Connection) -> tuple[Guard, ...]:
    return POSTGRESQL if connection.dialect.name == "postgresql" else SQLITE


def _normal(definition: str) -> str:
    """Return a definition with normalized white space."""
    return " ".join(definition.split())


def _run(connection: Connection, *statements: str) -> None:
    for statement in filter(None, statements):
        connection.exec_driver_sql(
            statement.replace("%", "%%") if connection.dialect.name == "postgresql" else statement
        )
