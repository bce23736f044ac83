"""Cache of search results for a minute: for the next page, and for the way back from a record, until a record changes.

Every change moves the head of the activity log in its own transaction. While the chain head, the number of records and
the highest id are the same (plain SQL bypasses the log), the same records match in the same order: one statement reads
the rows of the cached ids, and these three numbers with them.
"""

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, column, func, select, table

from groundtransport.cache import TTLCache
from groundtransport.records.kind import Kind
from groundtransport.records.list import counters
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import ListResult, Window, slice_window

IDS_MAX = 10_000  # ids of one search; a search with more matches is cached as their number
SECONDS = 60
State = tuple[int, int, int]  # the chain head's number, the number of live records, the highest id
_HEAD = table("audit_head", column("id"), column("number"))


@dataclass(frozen=True, slots=True)
class CachedSearch:
    """The number of matches in a state of the records, and their ids in list order if these are few."""

    state: State
    number: int
    is_estimate: bool = False
    ids: "array[int] | None" = None


_CACHE: TTLCache[CachedSearch] = TTLCache(SECONDS, most=32)  # at most two and a half megabytes


def state_columns(kind: Kind) -> list[ColumnElement[int]]:
    """Return the columns of the current state, for any statement to select."""
    changes = select(_HEAD.c.number).where(_HEAD.c.id == 1).scalar_subquery().label("state_changes")
    newest = select(func.max(kind.model.__table__.c.id)).scalar_subquery().label("state_newest")
    return [changes, counters.live_count(kind.table).label("state_total"), newest]


def state_of(row: Any) -> State:
    """Return the state in a row that has the ``state_columns``."""
    return row.state_changes or 0, int(row.state_total), row.state_newest or 0


def current_state(reader: ListReader) -> State:
    """Return the current state."""

    def make() -> Select[Any]:
        columns: list[Any] = state_columns(reader.kind)
        return select(*columns)

    return state_of(reader.run("state", make).one())


def forget(engine: Engine) -> None:
    """Empty the cache of a database, as when its log begins anew."""
    _CACHE.forget(engine)


def remember(reader: ListReader, state: State, ids: Sequence[int]) -> None:
    """Cache the ids of all matches, in list order, unless they are more than IDS_MAX."""
    if len(ids) <= IDS_MAX:
        _put(reader, (*_query_key(reader), reader.order.shape), CachedSearch(state, len(ids), ids=array("q", ids)))


def recall(reader: ListReader, window: Window) -> ListResult | None:
    """Return the rows of a window from the cache; None if they are not in it or a record has changed."""
    cached = _get(reader, (*_query_key(reader), reader.order.shape))
    if cached is None or cached.ids is None:
        return None
    ids = slice_window(cached.ids, window)
    rows = reader.run("recall", lambda: _rows_and_state(reader), ids=reader.ids_value(ids)).all()
    by_id = {row.id: row for row in rows if row.id is not None}
    if state_of(rows[0]) != cached.state or len(by_id) != len(ids):
        return None
    return ListResult(reader.to_dicts([by_id[record_id] for record_id in ids]), cached.state[1], cached.number)


def remember_number(reader: ListReader, state: State, number: int, *, is_estimate: bool) -> None:
    """Cache the number of matches alone; it serves every order."""
    _put(reader, _query_key(reader), CachedSearch(state, number, is_estimate))


def recall_number(reader: ListReader) -> CachedSearch | None:
    """Return the cached number of matches, which the caller checks against the state; None if it is not cached."""
    return _get(reader, _query_key(reader))


def _put(reader: ListReader, key: Hashable, search: CachedSearch) -> None:
    _CACHE.put(reader.dbsession.get_bind().engine, key, search)


def _get(reader: ListReader, key: Hashable) -> CachedSearch | None:
    return _CACHE.get(reader.dbsession.get_bind().engine, key)


def _query_key(reader: ListReader) -> tuple[Hashable, ...]:
    query = reader.query
    return reader.kind.name, query.q, tuple(query.filters.items())


def _rows_and_state(reader: ListReader) -> Select[Any]:
    """Return the statement of the rows with the ids of ``ids``, each with the state; one row of NULLs without any."""
    state = select(*state_columns(reader.kind)).subquery()
    return select(*reader.columns, *state.c).select_from(state.outerjoin(reader.table, reader.id_in_param()))
