"""The layout of a kind's search texts, stored in the database: texts of another layout are not found rightly.

A text is cut into numbered parts by the declaration of the kind (records/search/search_text.py). When that changes,
the texts that were stored before must be computed again: ``groundtransport init`` and ``reindex`` do so, the start and
``/readyz`` refuse until then.
"""

import json
from collections.abc import Iterable

from sqlalchemy import Connection, Engine

from groundtransport.i18n import _
from groundtransport.indexes import layouts
from groundtransport.records.kind import Kind, choice_fields
from groundtransport.records.search.search_text import phones
from groundtransport.text import FOLD_VERSION

VERSION = 2  # to be raised whenever ``search_text`` makes another text of the same values


def layout_of(kind: Kind) -> str:
    """Return, as JSON, all of a kind's declaration that decides what its search texts hold."""
    parts = {
        "version": VERSION,
        "fold": FOLD_VERSION,
        "filters": [list(fields) for fields in kind.filters.values()],
        "phones": list(phones(kind)),
        "folded": [column.key for column in kind.model.__table__.columns if "folded" in column.info],
        "choices": [[name, [code for code, _title in kind.fields[name].choices]] for name in choice_fields(kind)],
    }
    return json.dumps(parts, sort_keys=True)


def outdated(connection: Connection, kinds: Iterable[Kind]) -> list[Kind]:
    """Return the kinds whose search texts were made by another layout than today's, or by none that is known."""
    stored = layouts.read(connection)
    return [kind for kind in kinds if stored.get(kind.table) != layout_of(kind)]


def store(connection: Connection, kind: Kind) -> None:
    """Note that all search texts of a kind are of today's layout."""
    layouts.store(connection, kind.table, layout_of(kind))


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
