"""The layout of a kind's search texts, stored in the database: texts of another layout are not found rightly.

A text is cut into numbered parts by the declaration of the kind (records/search/terms.py). When that changes,
the texts that were stored before must be made anew: ``groundtransport init`` and ``reindex`` do so, the start and
``/readyz`` refuse until then.
"""

import json
from collections.abc import Iterable

from sqlalchemy import Connection, Engine, select, text

from groundtransport.i18n import _
from groundtransport.indexes import SearchLayout
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import choices
from groundtransport.records.search.terms import phones

VERSION = 1  # to be raised whenever ``search_text`` or ``fold`` makes another text of the same values


def layout_of(kind: Kind) -> str:
    """Return, as JSON, all of a kind's declaration that decides what its search texts hold."""
    parts = {
        "version": VERSION,
        "filters": [list(fields) for fields in kind.filters.values()],
        "phones": list(phones(kind)),
        "choices": [[name, [code for code, _title in kind.fields[name].choices]] for name in choices(kind)],
    }
    return json.dumps(parts, sort_keys=True)


def outdated(connection: Connection, kinds: Iterable[Kind]) -> list[Kind]:
    """Return the kinds whose search texts were made by another layout than today's, or by none that is known."""
    stored = {row.kind: row.layout for row in connection.execute(select(SearchLayout.kind, SearchLayout.layout))}
    return [kind for kind in kinds if stored.get(kind.table) != layout_of(kind)]


def store(connection: Connection, kind: Kind) -> None:
    """Note that all search texts of a kind are of today's layout."""
    connection.execute(text("DELETE FROM search_layout WHERE kind = :kind"), {"kind": kind.table})
    values = {"kind": kind.table, "layout": layout_of(kind)}
    connection.execute(text("INSERT INTO search_layout (kind, layout) VALUES (:kind, :layout)"), values)


def why_not_ready(engine: Engine, kinds: Iterable[Kind]) -> str:
    """Return why searches would miss records, as a text for people; "" where they do not."""
    with engine.connect() as connection:
        names = ", ".join(kind.name for kind in outdated(connection, kinds))
    if not names:
        return ""
    return _(
        "The search texts of ${kinds} were made for other filters or fields: run groundtransport init.",
        mapping={"kinds": names},
    )
