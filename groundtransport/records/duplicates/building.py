"""Make the keys and pairs of existing records: after an upgrade, or to repair them. In chunks, beside other writers."""

from collections.abc import Iterator

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from groundtransport.db import bulk_engine, transaction
from groundtransport.indexes import layouts
from groundtransport.records.duplicates import statements
from groundtransport.records.duplicates.pairs import PairKeeper, compared_names
from groundtransport.records.kind import Kind

CHUNK = 1_000  # records of one transaction
LAYOUT = "3"  # to be raised whenever the rule changes: ``init`` then makes the pairs anew


def is_outdated(engine: Engine, kind: Kind) -> bool:
    """Return True if the pairs of a kind were not made yet, or by another rule."""
    with engine.connect() as connection:
        return layouts.read(connection).get(_name(kind)) != LAYOUT


def build(engine: Engine, kind: Kind) -> Iterator[int]:
    """Make the pairs of a kind anew; yield the number of records that are done, after each chunk.

    What users have rejected stays rejected. Until the end the page shows a part of the pairs.
    """
    while _drop_chunk(engine, kind):
        pass
    last, done = 0, 0
    while True:
        with transaction(bulk_engine(engine)) as dbsession:
            ids = _add_chunk(dbsession, kind, last)
            if not ids:
                layouts.store(dbsession.connection(), _name(kind), LAYOUT)
        if not ids:
            return
        last, done = ids[-1], done + len(ids)
        yield done


def _drop_chunk(engine: Engine, kind: Kind) -> bool:
    """Delete some open pairs; return False if there were none."""
    with transaction(bulk_engine(engine)) as dbsession:
        return statements.drop_some_pairs(dbsession, kind.name, CHUNK)


def _add_chunk(dbsession: Session, kind: Kind, last: int) -> list[int]:
    """Add the keys and pairs of the records after the id ``last``; return their ids."""
    table = kind.model.__table__
    columns = [table.c[name] for name in dict.fromkeys(("id", "airport_code", *compared_names(kind)))]
    page = select(*columns).where(table.c.id > last, kind.model.is_live()).order_by(table.c.id).limit(CHUNK)
    records = {row.id: row._asdict() for row in dbsession.execute(page)}
    PairKeeper(dbsession, kind).add(records)
    return list(records)


def _name(kind: Kind) -> str:
    return f"doubles of {kind.name}"[:64]
