"""Renew the search texts of a kind beside running writers, after its declaration or the rules have changed."""

import time
from collections.abc import Iterator
from itertools import islice

from sqlalchemy import Engine, text

from groundtransport.db import autocommit_engine, write_engine
from groundtransport.records.derived import derived_columns
from groundtransport.records.kind import Kind
from groundtransport.records.maintenance import Stale, stale_texts
from groundtransport.records.search import layout

AT_ONCE = 100  # records of one transaction, whose writers wait for it


def renew(engine: Engine, kind: Kind) -> Iterator[int]:
    """Store the correct search texts in small transactions; yield the number of renewed records after each.

    A record that is changed meanwhile is left as it was written. Processes of the release before write texts by their
    own rules, so run it once more when all are replaced.
    """
    assignments = ", ".join(f"{name} = :{name}" for name in derived_columns(kind))
    where = "id = :id AND version = :version"
    update = text(f"UPDATE {kind.table} SET {assignments} WHERE {where}")  # noqa: S608  # names of a kind's table and columns
    done = 0
    with autocommit_engine(engine).connect() as connection:
        stale = stale_texts(connection, kind)
        while records := list(islice(stale, AT_ONCE)):
            began = time.monotonic()
            with write_engine(engine).begin() as writer:
                writer.execute(update, [_parameters(record) for record in records])
            done += len(records)
            yield done
            if engine.dialect.name == "sqlite":  # one writer at a time, and those that wait look in from time to time
                time.sleep(time.monotonic() - began)
    with write_engine(engine).begin() as writer:
        layout.store(writer, kind)


def _parameters(record: Stale) -> dict[str, object]:
    return {"id": record.id, "version": record.version, **record.values}
