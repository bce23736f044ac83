"""Whether the processes of a release can work with a database, which an older or a newer release migrated.

The row ``contracted`` of the table ``search_layout`` names the contracting revisions that were applied: a process that
does not know one of them cannot work with the schema.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, inspect, text

from groundtransport.db import sqlite
from groundtransport.db.revisions import Schema
from groundtransport.i18n import _

VERSIONS, MARKS = "alembic_version", "search_layout"
_CONTRACTED = text("SELECT layout FROM search_layout WHERE kind = 'contracted'")
_FORGET = text("DELETE FROM search_layout WHERE kind = 'contracted'")
_NOTE = text("INSERT INTO search_layout (kind, layout) VALUES ('contracted', :names)")


@dataclass(frozen=True)
class State:
    """The state of a database: its revisions, the contracting ones among all that were applied, whose it is."""

    current: frozenset[str]
    contracted: frozenset[str]
    is_ours: bool
    is_read_only: bool


def state_of(engine: Engine) -> State:
    """Return the state of a database; of an empty one, too."""
    with engine.connect() as connection:
        inspector = inspect(connection)
        has_versions, is_ours = (inspector.has_table(name) for name in (VERSIONS, MARKS))
        query = text("SELECT version_num FROM alembic_version")
        current = frozenset(connection.scalars(query) if has_versions else ())
        contracted = read_contracted(connection) if is_ours else frozenset()
        return State(current, contracted, is_ours, _is_read_only(connection))


def _is_read_only(connection: Connection) -> bool:
    """Return True if the database accepts no writes: a standby, a leader that was demoted, a file without the right."""
    if connection.dialect.name == "sqlite":
        return not sqlite.is_writable(connection.engine)
    return connection.exec_driver_sql("SHOW transaction_read_only").scalar_one() == "on"


def read_contracted(connection: Connection) -> frozenset[str]:
    """Return the contracting revisions that were applied."""
    return frozenset((connection.scalar(_CONTRACTED) or "").split())


def note_contracted(connection: Connection, names: Iterable[str]) -> None:
    """Store the contracting revisions that were applied."""
    connection.execute(_FORGET)
    if text_of_names := " ".join(sorted(names)):
        connection.execute(_NOTE, {"names": text_of_names})


def why_incompatible(state: State, schema: Schema) -> str:
    """Return why a process with this schema cannot work with a database, as a text for people; "" if it can."""
    if schema.unknown(state.current) and not state.is_ours:
        return _("The database is that of another application.")
    if state.contracted - set(schema.revisions):
        return _("A newer release has changed the database, and this one cannot use it any more.")
    if not schema.is_expanded(state.current):
        return _("The database is not migrated: run groundtransport init.")
    return ""


def why_not_ready(state: State, schema: Schema) -> str:
    """Return why a process cannot serve users: the database is not compatible, or accepts no writes; "" if it can."""
    if reason := why_incompatible(state, schema):
        return reason
    return _("The database accepts no changes at present.") if state.is_read_only else ""
