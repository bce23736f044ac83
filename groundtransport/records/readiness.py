"""What must hold before a process serves users: ``/readyz`` and ``groundtransport init --check`` report it."""

from collections.abc import Iterable

from sqlalchemy import Engine

from groundtransport.db import compatibility, sqlite
from groundtransport.db.revisions import Schema
from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.records.search import layout


def why_not_ready(engine: Engine, schema: Schema, kinds: Iterable[Kind]) -> str:
    """Return why a process with this schema and these kinds cannot serve users, as a text for people; "" if it can.

    Raise SQLAlchemyError if the database does not answer.
    """
    if engine.dialect.name == "sqlite" and not sqlite.is_sound(engine):
        return _("The database file is damaged: bring back a backup.")
    state = compatibility.state_of(engine)
    reason = compatibility.why_not_ready(state, schema)
    if reason or schema.unknown(state.current):  # a newer release has changed what the layouts are compared with
        return reason
    return layout.why_not_ready(engine, kinds)
