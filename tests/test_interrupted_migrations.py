"""Upgrades of PostgreSQL that are stopped while an index is created CONCURRENTLY, and are repeated."""

from collections.abc import Iterator
from functools import partial

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Engine, String, event, text
from sqlalchemy.exc import PendingRollbackError

from groundtransport import db, settings
from groundtransport.db import migrations
from groundtransport.indexes.operations import is_ours
from tests.site import ENVIRON, app_settings

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)]

BEFORE = "0010"  # the next migration is one of the first that create an index CONCURRENTLY
AIRPORT = (
    "INSERT INTO airport (code, name, city, state, country, latitude, longitude, search_text, population, is_listed) "
    "VALUES ('JFK', 'Kennedy', '', '', 'US', 40.6, -73.8, '', 0, true)"
)
RECORDS = (
    "INSERT INTO {0} (airport_id, airport_code, airport_name, created_at, updated_at, version, search_text) "
    "SELECT id, 'JFK', 'Kennedy (JFK)', now(), now(), 1, '' FROM airport"
)
ENTRY = (
    "INSERT INTO admin_activity (id, at, actor, request_id, address, batch, action, kind, record_id, version, "
    "airport_code, label, changes, key_id, mac, search_text) "
    "VALUES (1, now(), 'a', '', '', '', 'create', 'transit', 1, 1, 'JFK', '', '{}', '', '', '')"
)


class Stopped(BaseException):
    """As a signal would end the process."""


class Stopper:
    """Raises Stopped before each statement that creates an index CONCURRENTLY, once for each index."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, connection: object, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("CREATE") and "INDEX CONCURRENTLY" in statement and statement not in self.names:
            self.names.append(statement)
            raise Stopped


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    """A database of an early release with a record of each kind, and an entry of the log."""
    engine = db.make_engine(settings.read(app_settings(empty_database_url), ENVIRON))
    migrations.upgrade(engine, BEFORE)
    with engine.begin() as connection:
        for statement in (AIRPORT, ENTRY, RECORDS.format("transit"), RECORDS.format("scheduledbus")):
            connection.execute(text(statement))
    yield engine
    engine.dispose()


def test_a_batch_creates_an_index_on_a_table_with_rows(engine: Engine) -> None:
    migrations.upgrade(engine)  # imports the operations
    with engine.begin() as connection:
        operations = Operations(MigrationContext.configure(connection))
        with operations.batch_alter_table("transit") as batch:
            batch.add_column(Column("next_text", String(9)))
            batch.create_index("ix_transit_next_text", ["next_text"])
        assert connection.scalar(text("SELECT to_regclass('ix_transit_next_text')")) is not None


def test_an_upgrade_that_was_stopped_at_each_index_is_repeated(engine: Engine) -> None:
    stopper = Stopper()
    event.listen(Engine, "before_cursor_execute", stopper)
    try:
        for _ in range(99):
            try:
                migrations.upgrade(engine)
                break
            except (Stopped, PendingRollbackError):  # the second, if the transaction was to be committed after it
                continue
    finally:
        event.remove(Engine, "before_cursor_execute", stopper)
    assert migrations.current(engine) == migrations.heads()
    with engine.connect() as connection:
        options = {"include_name": partial(is_ours, tables=db.Base.metadata.tables)}
        context = MigrationContext.configure(connection, opts=options)
        assert list(compare_metadata(context, db.Base.metadata)) == []
        assert connection.scalar(text("SELECT count(*) FROM pg_index WHERE NOT indisvalid")) == 0
    assert [name for name in stopper.names if "ix_transit_merged_into" in name], "the index of an op.create_index"
    assert len(stopper.names) > 20
