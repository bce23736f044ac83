"""Store the results of link checks, and lease hosts: one process at a time checks the links of a host."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta

from sqlalchemy import Engine, delete, or_
from sqlalchemy.dialects import postgresql, sqlite

from groundtransport.db import AnyRow, write_engine
from groundtransport.links.judging import Result
from groundtransport.links.models import LinkCheck, LinkHost

LEASE = timedelta(minutes=10)  # longer than the requests for one link, which their time-outs limit
CHUNK = 500  # rows in a transaction


@dataclass(frozen=True)
class Holder:
    """A record's field that holds a link."""

    kind: str
    record_id: int
    field: str


def store(engine: Engine, link: str, holders: Sequence[Holder], result: Result) -> None:
    """Store the result of a link for the records that hold it, CHUNK of them in a transaction."""
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    values = {"url": link, **asdict(result)}
    statement = dialect.insert(LinkCheck)
    new = {name: statement.excluded[name] for name in values}
    statement = statement.on_conflict_do_update(index_elements=["kind", "record_id", "field"], set_=new)
    for start in range(0, len(holders), CHUNK):
        rows = [{**asdict(holder), **values} for holder in holders[start : start + CHUNK]]
        with write_engine(engine, durable=False).begin() as connection:
            connection.execute(statement, rows)


def result_of(check: AnyRow) -> Result:
    """Return the result that a row of LinkCheck holds."""
    return Result(**{field.name: getattr(check, field.name) for field in fields(Result)})


def remove(engine: Engine, holders: Sequence[Holder]) -> None:
    """Remove the results of records that hold no link any more."""
    for holder in holders:
        named = [getattr(LinkCheck, name) == value for name, value in vars(holder).items()]
        with write_engine(engine, durable=False).begin() as connection:
            connection.execute(delete(LinkCheck).where(*named))


def claim(engine: Engine, host: str, owner: str, at: datetime) -> bool:
    """Take a host, or prolong its lease; return False if another process has it."""
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    lease = {"owner": owner, "leased_until": at + LEASE}
    statement = dialect.insert(LinkHost).values(host=host, **lease)
    is_free = or_(LinkHost.owner == owner, LinkHost.leased_until < at)
    statement = statement.on_conflict_do_update(index_elements=["host"], set_=lease, where=is_free)
    with write_engine(engine, durable=False).begin() as connection:
        return connection.scalar(statement.returning(LinkHost.host)) is not None


def release(engine: Engine, host: str, owner: str) -> None:
    """Give a host back."""
    with write_engine(engine, durable=False).begin() as connection:
        connection.execute(delete(LinkHost).where(LinkHost.host == host, LinkHost.owner == owner))
