"""What a search found a moment ago: for its next page, and for the way back from a record, as long as nothing changed.

Every change moves the head of the activity log in its own transaction. Where the head still stands, and the number of
records and the highest id are the same (plain SQL writes past the log), the same records match, in the same order:
their rows are read, and the state with them, by one statement.
"""

from array import array
from collections.abc import Hashable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, column, func, select, table

from groundtransport.cache import TTLCache
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window, slice_window

MOST = 10_000  # ids of one search
SECONDS = 60
State = tuple[int, int, int]
_FOUND: TTLCache[tuple[State, "array[int]"]] = TTLCache(SECONDS, most=32)  # two and a half megabytes at most
_COUNTED: TTLCache[tuple[State, int, bool]] = TTLCache(SECONDS)
# Of searches that match few, by PostgreSQL: how many are guessed, and how many can at most.
GUESSES: TTLCache[tuple[int, int]] = TTLCache(SECONDS)
_HEAD = table("audit_head", column("id"), column("number"))


def state(kind: Kind) -> list[ColumnElement[int]]:
    """Return what tells that nothing changed, as columns: of the log's head, of the live records, of their ids."""
    changes = select(_HEAD.c.number).where(_HEAD.c.id == 1).scalar_subquery().label("state_changes")
    newest = select(func.max(kind.model.__table__.c.id)).scalar_subquery().label("state_newest")
    return [changes, counters.kept(kind.table).label("state_total"), newest]


def state_of(row: Any) -> State:
    """Return the state that a row holds."""
    return row.state_changes or 0, int(row.state_total), row.state_newest or 0


def state_now(reader: ListReader) -> State:
    """Return the state of this moment."""

    def make() -> Any:
        return select(*state(reader.kind))

    return state_of(reader.run("state", make).one())


def forget(engine: Engine) -> None:
    """Forget all: the log begins anew."""
    for known in (_FOUND, _COUNTED, GUESSES):
        known.forget(engine)


def remember(reader: ListReader, state: State, ids: Sequence[int]) -> None:
    """Keep the ids of all matches, in the list's order, as they were in that state."""
    if len(ids) <= MOST:
        _FOUND.put(reader.dbsession.get_bind().engine, _key(reader), (state, array("q", ids)))


def recall(reader: ListReader, window: Window) -> ListResult | None:
    """Return the rows of a window, if all matches are known and nothing has changed since."""
    known = _FOUND.get(reader.dbsession.get_bind().engine, _key(reader))
    if known is None:
        return None
    then, ids = known
    page = slice_window(ids, window)
    rows = reader.run("recall", lambda: _recall(reader), ids=reader.ids_value(page)).all()
    found = {row.id: row for row in rows if row.id is not None}
    if state_of(rows[0]) != then or len(found) != len(page):
        return None
    return ListResult(reader.to_dicts([found[record_id] for record_id in page]), then[1], len(ids))


def remember_number(reader: ListReader, state: State, number: int, *, is_estimate: bool) -> None:
    """Keep how many matches there are, in whatever order, where they are too many to be remembered."""
    _COUNTED.put(reader.dbsession.get_bind().engine, _question(reader), (state, number, is_estimate))


def recall_number(reader: ListReader) -> tuple[State, int, bool] | None:
    """Return the state that the matches were counted in, how many there were, and whether that is an estimate."""
    return _COUNTED.get(reader.dbsession.get_bind().engine, _question(reader))


def _key(reader: ListReader) -> Hashable:
    return *_question(reader), reader.order.shape


def _question(reader: ListReader) -> tuple[Hashable, ...]:
    """Return what is asked for, in whatever order."""
    query = reader.query
    return reader.kind.name, query.q, tuple(query.filters.items())


def _recall(reader: ListReader) -> Select[Any]:
    facts = select(*state(reader.kind)).subquery()
    return select(*reader.columns, *facts.c).select_from(facts.outerjoin(reader.table, reader.id_in_param()))
