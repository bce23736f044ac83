"""Find records by where they come from: the pair of source and source ID, unique among the live records of a kind."""

from collections.abc import Collection, Sequence
from functools import cache

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.db import AnyRow, AnySelect, plan_options
from groundtransport.db.functions import are_one_of
from groundtransport.events import MERGED_INTO, Values
from groundtransport.i18n import _
from groundtransport.records.kind import Kind

SOURCE_FIELDS = frozenset({"source", "source_id"})
MOST_STEPS = 20  # from a merged record to its survivor
SourceKey = tuple[str, str]  # source and source id


def source_key(values: Values) -> SourceKey | None:
    """Return the pair of a record's values; None if either is empty, because then it identifies nothing."""
    source, source_id = values.get("source"), values.get("source_id")
    return (source, source_id) if source and source_id else None


class SourceTaken(Exception):
    """Another live record, ``owner_id``, has the source and source ID of the record to be written."""

    def __init__(self, owner_id: int) -> None:
        super().__init__(f"record {owner_id} has this source and source ID")
        self.owner_id = owner_id

    @property
    def message(self) -> str:
        """The translatable message for people."""
        return _("The record ${id} has this source and source ID.", mapping={"id": str(self.owner_id)})


def check_sources(dbsession: Session, kind: Kind, values: Collection[Values], record_id: int | None = None) -> None:
    """Raise SourceTaken if the values of a record hold the pair of another live record than ``record_id``."""
    keys = {key for record_values in values if (key := source_key(record_values))}
    owners = [owner for owner in ids_by_source(dbsession, kind, keys).values() if owner != record_id]
    if owners:
        raise SourceTaken(owners[0])


def ids_by_source(dbsession: Session, kind: Kind, keys: Collection[SourceKey]) -> dict[SourceKey, int]:
    """Return the ids of the live records with some of the pairs."""
    if not keys:
        return {}
    rows = _rows(dbsession, _live(kind), keys)
    ids = {(row.source, row.source_id): row.id for row in rows}
    return {key: ids[key] for key in keys if key in ids}


@cache
def _live(kind: Kind) -> AnySelect:
    columns = kind.model.__table__.c
    is_given = columns.source_id.is_not(None)  # the condition of the unique index, literally: SQLite needs it
    query = select(columns.id, columns.source, columns.source_id)
    return query.where(are_one_of(columns.source, columns.source_id, "keys"), is_given, kind.model.is_live())


def owners_by_source(dbsession: Session, kind: Kind, keys: Collection[SourceKey]) -> dict[SourceKey, int]:
    """Return the ids of the live records with some of the pairs, or into which one with such a pair was merged."""
    owners = ids_by_source(dbsession, kind, keys)
    missing = {key for key in keys if key not in owners}
    if missing and hasattr(kind.model, MERGED_INTO):
        owners |= _survivors_by_source(dbsession, kind, missing)
    return owners


def _survivors_by_source(dbsession: Session, kind: Kind, keys: Collection[SourceKey]) -> dict[SourceKey, int]:
    rows = _rows(dbsession, _merged(kind), keys)
    owners = {(row.source, row.source_id): survivor_of(dbsession, kind, row.merged_into) for row in rows}
    return {key: owner for key, owner in owners.items() if key in keys and owner is not None}


@cache
def _merged(kind: Kind) -> AnySelect:
    columns = kind.model.__table__.c
    query = select(columns.source, columns.source_id, columns.merged_into)
    is_sought = are_one_of(columns.source, columns.source_id, "keys")
    return query.where(is_sought, columns.merged_into.is_not(None)).order_by(columns.id)


def _rows(dbsession: Session, query: AnySelect, keys: Collection[SourceKey]) -> Sequence[AnyRow]:
    pairs = orjson.dumps(sorted(keys)).decode()
    return dbsession.execute(query, {"keys": pairs}, execution_options=plan_options(len(keys))).all()


def survivor_of(dbsession: Session, kind: Kind, record_id: int) -> int | None:
    """Return the id of the live record that a record is or was merged into, in any number of steps; None without."""
    columns = kind.model.__table__.c
    query = select(columns.id, columns.merged_into, columns.deleted_at)
    for _step in range(MOST_STEPS):
        row = dbsession.execute(query.where(columns.id == record_id)).one_or_none()
        if row is None or row.deleted_at is None:
            return row.id if row else None
        if row.merged_into is None:
            return None
        record_id = row.merged_into
    return None


def merged_ids(dbsession: Session, kind: Kind, record_id: int) -> list[int]:
    """Return the ids of the records that were merged into one, in one or more steps."""
    found: list[int] = []
    last = [record_id] if hasattr(kind.model, MERGED_INTO) else []
    columns = kind.model.__table__.c
    for _step in range(MOST_STEPS):
        if not last:
            break
        last = list(dbsession.scalars(select(columns.id).where(columns.merged_into.in_(last))))
        found += last
    return found
